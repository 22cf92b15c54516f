package page

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// boxFont returns a TrueType font in which every character but the space is the same box. With it a page looks the same on machines whose fonts
// differ, as with the font Ahem of the tests of browsers.
func boxFont() []byte {
	box := pack(int16(1), int16(0), int16(0), int16(500), int16(700), // one contour, its bounds
		uint16(3), uint16(0), // its last point; no instructions
		[]byte{1, 1, 1, 1}, []int16{0, 500, 0, -500}, []int16{0, 0, 700, 0}) // four points on the curve: differences of x and of y
	tables := map[string][]byte{
		"glyf": box,
		"loca": pack([]uint16{0, 0, uint16(len(box) / 2), uint16(len(box) / 2)}), // of .notdef, which is empty, the box and the space
		"hmtx": pack([]uint16{600, 0, 600, 0, 600, 0}),
		"cmap": characters(),
		"head": pack(uint32(0x10000), uint32(0), uint32(0), uint32(0x5F0F3CF5), uint16(3), uint16(1000), uint64(0), uint64(0), []int16{0, 0, 500, 700}, uint16(0), uint16(8), []int16{2, 0, 0}),
		"hhea": pack(uint32(0x10000), []int16{800, -200, 0}, uint16(600), []int16{0, 100, 500, 1, 0, 0, 0, 0, 0, 0, 0}, uint16(3)),
		"maxp": pack(uint32(0x10000), []uint16{3, 4, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0}),
		"name": pack([]uint16{0, 1, 18, 3, 1, 0x409, 1, 6, 0}, []uint16{'b', 'o', 'x'}),
		"post": pack(uint32(0x30000), make([]byte, 28)),
		"OS/2": pack(uint16(3), []int16{600, 400, 5, 0, 650, 700, 0, 75, 650, 700, 0, 480, 50, 300, 0}, make([]byte, 10), make([]byte, 16), []byte("none"),
			[]uint16{0x40, ' ', last}, []int16{800, -200, 0, 800, 200}, make([]byte, 8), []int16{500, 700}, []uint16{0, ' ', 1}),
	}
	return file(tables)
}

// last is the last character that the font has.
const last = 0x27FF

// characters returns a cmap of format 4: the space, then the boxes, then the end.
func characters() []byte {
	boxes := slices.Repeat([]uint16{1}, last-' ')
	table := pack(uint16(0), uint16(6), uint16(4), uint16(1), uint16(2), // language, segments twice, and what searching is fast by
		[]uint16{' ', last, 0xFFFF}, uint16(0), []uint16{' ', ' ' + 1, 0xFFFF}, // ends and starts
		[]uint16{0x10000 - ' ' + 2, 0, 1}, []uint16{0, 4, 0}, boxes) // what is added, or where the glyphs are
	return slices.Concat(pack(uint16(0), uint16(1), uint16(3), uint16(1), uint32(12), uint16(4), uint16(4+len(table))), table)
}

// file returns the tables as a font file. Its check sums are right but that of the whole, which no browser asks for.
func file(tables map[string][]byte) []byte {
	names := []string{"OS/2", "cmap", "glyf", "head", "hhea", "hmtx", "loca", "maxp", "name", "post"}
	head, body := pack(uint32(0x10000), uint16(len(names)), uint16(128), uint16(3), uint16(32)), []byte(nil)
	for _, name := range names {
		table := tables[name]
		padded := append(slices.Clone(table), make([]byte, -len(table)&3)...)
		var sum uint32
		for i := 0; i < len(padded); i += 4 {
			sum += binary.BigEndian.Uint32(padded[i:])
		}
		head = append(head, pack([]byte(name), sum, uint32(12+16*len(names)+len(body)), uint32(len(table)))...)
		body = append(body, padded...)
	}
	return append(head, body...)
}

// pack returns values as a font has them.
func pack(all ...any) []byte {
	var out bytes.Buffer
	for _, v := range all {
		if err := binary.Write(&out, binary.BigEndian, v); err != nil {
			panic(err) // of values without a size: there are none
		}
	}
	return out.Bytes()
}
