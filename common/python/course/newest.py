"""Which of many result files a comparison shows: the newest ones of each label, GPU and study."""
from __future__ import annotations

import dataclasses
from typing import Collection, Dict, List, Sequence, Tuple

from .results import ResultFile

MOST = 4  # files next to each other, as many as fit into 80 columns


def newest(files: Sequence[ResultFile],
           kept: Collection[ResultFile] = ()) -> Tuple[List[ResultFile], str]:
    """The files in their order, and a line on what was left out; empty if nothing was.

    Up to MOST files stay as they are. Of more, a study's rows stay in the newest file that has them,
    for each label and GPU; where all are of one label and GPU, in the newest two, so that there is
    something to compare. The files in `kept` stay whole.
    """
    if len(files) <= MOST:
        return list(files), ""
    places: Dict[Tuple, List[int]] = {}
    for index in sorted(range(len(files)), key=lambda index: files[index].date, reverse=True):
        file = files[index]
        for study in {row.study for row in file.rows}:
            places.setdefault((file.label, file.gpu.kind, file.on_cpu, study), []).append(index)
    count = 1 if len({place[:3] for place in places}) > 1 else 2
    stay = {(index, place[3]) for place, found in places.items() for index in found[:count]}
    shown = []
    for index, file in enumerate(files):
        rows = tuple(row for row in file.rows
                     if file in kept or (index, row.study) in stay)
        if rows:
            shown.append(dataclasses.replace(file, rows=rows))
    if sum(len(file.rows) for file in shown) == sum(len(file.rows) for file in files):
        return list(files), ""
    which = "newest" if count == 1 else "newest two"
    return shown, (f"{len(files)} files, {len(shown)} shown: the {which} of each label, GPU and "
                   f"study; give up to {MOST} to see all of them")
