"""Draws the bar chart of bench/run: figures downwards, cost on a log scale to the right, one bar for each who has the figure."""
import html
import math

COLOURS = {"Millrace": "#1b6ca8", "PoCL": "#e08e45", "oneTBB": "#7a9e3f", "GPU driver": "#9a9a9a"}
LEFT, RIGHT, TOP, BAR, GAP, FOOT = 250, 60, 64, 9, 10, 34
WIDTH = 960


def _label(ns):
    return f"{ns:.3g} ns" if ns < 1000 else f"{ns / 1000:.3g} µs" if ns < 1e6 else f"{ns / 1e6:.3g} ms"


def svg(rows, title, subtitle):
    """`rows`: [(figure, {who: ns}, goal or None)]. Returns the picture as text."""
    values = [v for _, costs, _ in rows for v in costs.values() if v > 0]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    x = lambda ns: LEFT + (WIDTH - LEFT - RIGHT) * (math.log10(ns) - low) / (high - low)
    height = TOP + sum(len(costs) * BAR + GAP for _, costs, _ in rows) + FOOT
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="11">',
           f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
           f'<text x="16" y="22" font-size="15" font-weight="bold">{html.escape(title)}</text>',
           f'<text x="16" y="40" fill="#555">{html.escape(subtitle)}</text>']
    place = WIDTH - RIGHT
    for who in reversed(COLOURS):
        if any(who in costs for _, costs, _ in rows):
            place -= 14 + 7 * len(who) + 12
            out += [f'<rect x="{place}" y="13" width="10" height="10" fill="{COLOURS[who]}"/>', f'<text x="{place + 14}" y="22">{who}</text>']
    bottom = height - FOOT + 4
    for decade in range(low, high + 1):
        at = x(10**decade)
        out += [f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{TOP - 10}" y2="{bottom}" stroke="#ddd"/>',
                f'<text x="{at:.1f}" y="{bottom + 16}" text-anchor="middle" fill="#555">{_label(10**decade)}</text>']
    y = TOP
    for name, costs, goal in rows:
        size = len(costs) * BAR
        out.append(f'<text x="{LEFT - 10}" y="{y + size / 2 + 4:.1f}" text-anchor="end">{html.escape(name)}</text>')
        for i, (who, ns) in enumerate(costs.items()):
            end = max(x(ns), LEFT + 1)
            out += [f'<rect x="{LEFT}" y="{y + i * BAR}" width="{end - LEFT:.1f}" height="{BAR - 1}" fill="{COLOURS[who]}"><title>{who}: {_label(ns)}</title></rect>',
                    f'<text x="{end + 3:.1f}" y="{y + i * BAR + 8}" font-size="8" fill="#555">{_label(ns)}</text>']
        if goal:
            out.append(f'<line x1="{x(goal):.1f}" x2="{x(goal):.1f}" y1="{y - 2}" y2="{y + size + 1}" stroke="#c0392b" stroke-width="1.5"><title>goal: {_label(goal)}</title></line>')
        y += size + GAP
    return "\n".join(out + ["</svg>", ""])
