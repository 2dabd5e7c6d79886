"""Classes to compare, made from the recorded files: other machines, other samples, cheats."""
import copy
import functools
import json
import random
import statistics
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GPUS = (("NVIDIA H200", 150109880320, 4814.304, 1980, 1.0),
        ("NVIDIA GeForce RTX 4060 Laptop GPU", 8585740288, 256.0, 2100, 0.05),
        ("NVIDIA GeForce RTX 4060 Laptop GPU", 8585740288, 256.0, 1400, 0.05),
        ("NVIDIA GeForce RTX 3080", 10737418240, 760.3, 1800, 0.15),
        ("Tesla T4", 16106127360, 320.1, 1590, 0.06))


@functools.lru_cache(maxsize=None)
def recorded_text(chapter):
    return (ROOT / "chapters" / chapter / "results" / "h200.json").read_text(encoding="utf-8")


def recorded(chapter="01_vector_add"):
    return json.loads(recorded_text(chapter))


def settle(data):
    """Medians, rates, limits and shares that follow from samples and the memory's rates."""
    gpu = data["gpu"]
    for row in data["results"]:
        if not row["seconds"]:
            continue
        middle = statistics.median(row["seconds"])
        quarters = statistics.quantiles(row["seconds"], n=4, method="inclusive")
        row["rate"]["value"] *= row["median_s"] / middle
        row.update(median_s=middle, q1_s=quarters[0], q3_s=quarters[2], min_s=min(row["seconds"]))
        limit = row["limit"]
        if limit and limit["unit"] == "GB/s":
            share = row["write_share"]
            limit["value"] = 1 / ((1 - share) / gpu["read_gbs"] + share * (
                2 / gpu["copy_gbs"] - 1 / gpu["read_gbs"]))
        reached = row["rate"]["value"]
        if limit and limit["unit"] == "GB/s" and row["rate"]["unit"] != "GB/s":
            reached = row["bytes"] * 1e-9 / middle
        row["of_limit"] = reached / limit["value"] if limit else None
    return data


def machine(label, gpu=0, chapter="01_vector_add", seed=0, slower=1.0, noise=0.002):
    """An honest file of another machine: the recorded one with other speeds and samples."""
    source = random.Random(f"{label} {seed} {chapter}")
    data = copy.deepcopy(recorded(chapter))
    name, memory, pins, clock, factor = GPUS[gpu]
    data.update(label=label, date="2026-11-22T10:00:00Z")  # tests know later ones, not the record's
    read = 1 / data["gpu"]["read_gbs"]
    write = 2 / data["gpu"]["copy_gbs"] - read
    for row in data["results"]:  # of its bytes, for settle(); nobody else reads it
        if row["limit"]:
            row["write_share"] = (1 / row["limit"]["value"] - read) / (write - read)
    data["gpu"].update(name=name, memory_bytes=memory, peak_dram_gbs=pins)
    for key in ("copy_gbs", "read_gbs"):
        data["gpu"][key] *= factor * source.uniform(0.995, 1.005)
    for row in data["results"]:
        if row["seconds"]:
            scale = slower * source.uniform(1.01, 1.03) / factor
            row["seconds"] = [value * scale * source.uniform(1 - noise, 1 + noise)
                              for value in row["seconds"]]
            row["instantiations_s"] = [value * scale for value in row["instantiations_s"]]
            row["clock_mhz"] = clock * source.uniform(0.99, 1.0)
        if row["limit"] and row["limit"]["unit"] != "GB/s":
            row["limit"]["value"] *= factor
    return settle(data)


def row_of(data, version, study="sequence"):
    return next(row for row in data["results"]
                if row["study"] == study and row["version"] == version)


def on_cpu(label, chapter="03_transpose", size=None):
    """A file of the CPU backend: the counts that the course has of its own versions."""
    data = copy.deepcopy(recorded(chapter))
    data.update(label=label)
    data["gpu"].update(name="CPU (simt)", memory_bytes=2**33, peak_dram_gbs=None, copy_gbs=None,
                       read_gbs=None)
    data["environment"]["backend"] = "cpu"
    rows = [row for row in data["results"] if row["study"] == "sequence"]
    for row in rows:
        row.update(seconds=[], median_s=None, q1_s=None, q3_s=None, min_s=None, rate=None,
                   limit=None, of_limit=None, clock_mhz=None, behind=None, instantiations_s=[],
                   size=size or {"rows": 512, "cols": 512}, flags=[], launch=None,
                   findings=[], model=model(4, 4))
    data["results"] = rows
    data["studies"] = [study for study in data["studies"] if study["name"] == "sequence"]
    return data


def model(loads, stores, shared=0, requests=8192):
    """Counts of so many requests, each with these sectors and wavefronts: by default one for 32
    elements of a matrix of 512 x 512."""
    def access(value, unit):
        return {"requests": requests if value else 0, unit: requests * value}
    return {"global_loads": access(loads, "sectors"), "global_stores": access(stores, "sectors"),
            "global_atomics": access(0, "sectors"), "shared_loads": access(shared, "wavefronts"),
            "shared_stores": access(shared, "wavefronts"),
            "shared_atomics": access(0, "wavefronts"), "warps": 100, "barriers": 0,
            "warp_steps": 100, "lane_steps": 3200, "exact": True, "kernels": []}


def exercise(label, verdict="passed", ratio=1.2, reason="", gpu=0, number=2, asked=0.9, noise=0.002,
             counted=None):
    """An exercise's file: the version that it is compared with, and the learner's, `ratio` as fast;
    with `counted` a file of the CPU backend with these counts."""
    data = machine(label, gpu, noise=noise)
    compared = row_of(data, "02_one_thread_per_element")
    yours = copy.deepcopy(compared)
    source = random.Random(label)
    for row, version, role in ((compared, compared["version"], "version"),
                               (yours, "yours", "exercise")):
        row.update(study=f"exercise_{number}", version=version, role=role)
    yours["seconds"] = [value / ratio * source.uniform(1 - noise, 1 + noise)
                        for value in yours["seconds"]]
    yours["instantiations_s"] = []
    yours["file"] = yours["code"] = None
    data["results"] = [compared, yours]
    data["studies"] = [{"name": f"exercise_{number}", "title": "x", "axis": None,
                        "axis_label": None, "log_axis": False}]
    data["exercise"] = {"number": number, "verdict": verdict, "reason": reason or None,
                        "compared": compared["version"], "asked_ratio": asked}
    data = settle(data)
    if counted:
        data["environment"]["backend"] = "cpu"
        for row, counts in ((compared, model(4, 4)), (yours, counted)):
            row.update(seconds=[], median_s=None, rate=None, of_limit=None, limit=None,
                       model=counts, findings=[])
    return data
