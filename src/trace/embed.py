#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Put files into a C source: embed.py OUT.c SYMBOL FILE [SYMBOL FILE ...]"""
import os
import sys


def main():
    out, pairs = sys.argv[1], sys.argv[2:]
    lines = ['/* Made by embed.py from data/. */', '#include "trace/samples.h"', '']
    for symbol, path in zip(pairs[::2], pairs[1::2]):
        with open(path, 'rb') as f:
            data = f.read()
        lines.append('static const unsigned char %s_bytes[] = {' % symbol)
        for i in range(0, len(data), 24):
            lines.append('\t' + ','.join(str(b) for b in data[i:i + 24]) + ',')
        lines.append('};')
        lines.append('const struct fth_sample %s = {"%s", %s_bytes, sizeof(%s_bytes)};'
                     % (symbol, os.path.basename(path), symbol, symbol))
        lines.append('')
    with open(out, 'w') as f:
        f.write('\n'.join(lines))


main()
