"""Pictures of a run of the CPU backend, request by request: a page, and drawings for lessons.

trace.py reads what the run wrote, recount.py counts it again, page.py makes the page of page.html,
page.css and the scripts next to it, svg.py draws single requests for lessons, recorded.py keeps
what the lessons show. run.py is what chapters/run calls.
"""
