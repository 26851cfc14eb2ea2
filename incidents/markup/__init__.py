"""The dialect of record text on Python-Markdown. Closed: others import from `incidents.markdown_html`.

`blocks` (lines → blocks), `inline` (text → marks), `cleaning` (the allow-list), `sentences` and `particles` (Korean
text) are pure; `dialect` puts them on Python-Markdown's pipeline.
"""
