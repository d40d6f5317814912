"""Draws the figures of a soak as one SVG: a panel for each figure, a column for each store, shaded where something was
done to the store.  The straight line is the slope that was judged."""
import html
import statistics

import slope

WIDTH, HEIGHT, GAP, TOP = 460, 110, 46, 40
SHADES = {"stop": "#f6d5b0", "full": "#f2b8b5", "crash": "#f2b8b5", "idle": "#dcdcf2"}


def scale(samples, duration_s):
    most = max((value for _, value in samples), default=1.0) * 1.1 or 1.0
    return lambda point: (point[0] / duration_s * WIDTH, HEIGHT - point[1] / most * HEIGHT), most


def line(points, style):
    return f'<polyline fill="none" {style} points="' + " ".join(f"{x:.1f},{y:.1f}" for x, y in points) + '"/>'


def number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.2f}"


def panel(figure, shades, duration_s):
    place, most = scale(figure.samples, duration_s)
    grown = figure.growth()
    title = f"{figure.store}: {figure.name}"
    if grown is not None:
        title += (f" - {number(grown.median)} {figure.unit}, {grown.per_hour:+.1%}/h "
                  f"({grown.low:+.1%} to {grown.high:+.1%})")
    parts = [f'<text x="0" y="-6" font-size="11">{html.escape(title)}</text>']
    for kind, begin, end in shades:
        left, right = max(0.0, begin) / duration_s * WIDTH, min(end, duration_s) / duration_s * WIDTH
        parts.append(f'<rect x="{left:.1f}" width="{max(0.5, right - left):.1f}" height="{HEIGHT}" '
                     f'fill="{SHADES[kind]}"/>')
    parts.append(f'<rect width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#999"/>')
    parts.append(f'<text x="{WIDTH + 3}" y="9" font-size="9">{number(most)}</text>')
    parts.append(line([place(point) for point in figure.samples], 'stroke="#1f5fa8" stroke-width="1"'))
    if grown is not None:
        blocks = slope.blocks_of(figure.samples, figure.part)
        middle = statistics.median(time for time, _ in blocks)
        ends = [(time, grown.median + grown.per_hour * grown.median / 3600 * (time - middle))
                for time in (blocks[0][0], blocks[-1][0])]
        parts.append(line([place(point) for point in ends], 'stroke="#c02020" stroke-width="1.5"'))
    return "".join(parts)


def draw(path, columns, faults, began, duration_s):
    """`columns`: a list of figures for each store.  `faults`: (kind, store, pid, begin, end)."""
    height = TOP + max(len(column) for column in columns) * (HEIGHT + GAP)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{len(columns) * (WIDTH + 60) + 20}" height="{height}" '
             'font-family="sans-serif"><rect width="100%" height="100%" fill="white"/>']
    for number_of_column, column in enumerate(columns):
        for row, figure in enumerate(column):
            shades = [(kind, begin - began, end - began) for kind, store, _, begin, end in faults
                      if store == figure.store and kind in SHADES]
            left, top = 20 + number_of_column * (WIDTH + 60), TOP + row * (HEIGHT + GAP)
            parts.append(f'<g transform="translate({left},{top})">{panel(figure, shades, duration_s)}</g>')
    path.write_text("\n".join(parts) + "\n</svg>\n", encoding="utf-8")
