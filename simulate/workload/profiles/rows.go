package profiles

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

type row struct {
	file   string
	line   int
	names  []string // requested columns
	values []string // aligned with names
}

func eachRow(r io.Reader, file string, names []string, visit func(row) error) error {
	in := csv.NewReader(r)
	in.ReuseRecord = true
	columns, err := header(in, file, names)
	if err != nil {
		return err
	}
	values := make([]string, len(names))
	for n := 0; ; n++ {
		record, err := in.Read()
		switch {
		case errors.Is(err, io.EOF) && n == 0:
			return fmt.Errorf("%s: no rows below the header, want at least 1", file)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", file, err)
		}
		for i, c := range columns {
			values[i] = strings.TrimSpace(record[c])
		}
		line, _ := in.FieldPos(0)
		if err := visit(row{file: file, line: line, names: names, values: values}); err != nil {
			return err
		}
	}
}

func header(in *csv.Reader, file string, names []string) ([]int, error) {
	head, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: header: %w", file, err)
	}
	for i, name := range head {
		head[i] = strings.TrimSpace(strings.TrimPrefix(name, "\ufeff"))
	}
	columns := make([]int, len(names))
	for i, name := range names {
		if columns[i] = slices.Index(head, name); columns[i] < 0 {
			return nil, fmt.Errorf("%s:1: column %s is missing, want %s", file, name, strings.Join(names, ","))
		}
	}
	return columns, nil
}

func (r row) text(name string) string { return r.values[slices.Index(r.names, name)] }

func (r row) bad(name, want string) error {
	return fmt.Errorf("%s:%d: column %s: got %q, want %s", r.file, r.line, name, r.text(name), want)
}

func (r row) positive(name string) (float64, error) {
	v, err := strconv.ParseFloat(r.text(name), 64)
	if err != nil || !(v > 0) || math.IsInf(v, 1) {
		return 0, r.bad(name, "a finite number above 0")
	}
	return v, nil
}

func (r row) notNegative(name string) (float64, error) {
	v, err := strconv.ParseFloat(r.text(name), 64)
	if err != nil || !(v >= 0) || math.IsInf(v, 1) {
		return 0, r.bad(name, "a finite number of at least 0")
	}
	return v, nil
}

const mostCount = 1 << 30

func (r row) count(name string) (int, error) {
	v, err := strconv.Atoi(r.text(name))
	if err != nil || v < 1 || v > mostCount {
		return 0, r.bad(name, fmt.Sprintf("a whole number in 1..%d", mostCount))
	}
	return v, nil
}

// A shapeKey encodes a placement shape up to rotation: the lexicographically smallest rotation of its
// GPU counts without zeros, four bits per node, first node highest. 0 stands for shapes without a key:
// no GPUs, more than 16 nodes, or more than 15 GPUs on a node.
//
// Rotations are equal because GPUs form rings: (4, 2, 4) equals (2, 4, 4), but not (3, 4, 2).
type shapeKey uint64

const (
	keyNodes = 16
	keyGPUs  = 15
)

func summarise(shape []int) (key shapeKey, nodes, gpus int) {
	small := true
	for _, n := range shape {
		if n <= 0 {
			continue
		}
		nodes++
		gpus += n
		small = small && n <= keyGPUs
		key = key<<4 | shapeKey(n)
	}
	if !small || nodes > keyNodes {
		return 0, nodes, gpus
	}
	return smallestRotation(key, nodes), nodes, gpus
}

// smallestRotation returns the least rotation of a key's n digits; numeric order is lexicographic order.
func smallestRotation(key shapeKey, n int) shapeKey {
	if n < 2 {
		return key
	}
	top := 4 * uint(n-1)
	least := key
	for r := key; ; {
		last := r & 0xf
		r = r>>4 | last<<top
		if r == key { // all rotations were compared
			return least
		}
		least = min(least, r)
	}
}

func parseShape(digits string) (key shapeKey, nodes, gpus int, ok bool) {
	if digits == "" || len(digits) > keyNodes {
		return 0, 0, 0, false
	}
	shape := make([]int, len(digits))
	for i := range len(digits) {
		if digits[i] < '1' || digits[i] > '9' {
			return 0, 0, 0, false
		}
		shape[i] = int(digits[i] - '0')
	}
	key, nodes, gpus = summarise(shape)
	return key, nodes, gpus, true
}

func wholeNodes(n, gpus int) shapeKey {
	if n < 1 || n > keyNodes || gpus%n != 0 || gpus/n > keyGPUs {
		return 0
	}
	var key shapeKey
	for range n {
		key = key<<4 | shapeKey(gpus/n)
	}
	return key
}
