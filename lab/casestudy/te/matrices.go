package te

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// ReadMatrices reads CSV with the header slot,src,dst,demand and names of nodes of t. It returns the demands of each
// slot that are above 0, sorted by source, then target.
func ReadMatrices(name string, r io.Reader, t *Topology) ([][]Demand, error) {
	index := make(map[string]int, len(t.nodes))
	for i, n := range t.nodes {
		index[n] = i
	}
	rows := csv.NewReader(r)
	rows.FieldsPerRecord = 4
	var slots [][]Demand
	for {
		row, err := rows.Read()
		line := 0
		if err == nil {
			line, _ = rows.FieldPos(0)
		}
		switch {
		case errors.Is(err, io.EOF):
			return sorted(name, slots)
		case err != nil:
			return nil, fmt.Errorf("%s: %w", name, err)
		case line == 1 && row[0] == "slot":
			continue
		}
		slot, d, err := matrixRow(row, index)
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", name, line, err)
		}
		for slot >= len(slots) {
			slots = append(slots, nil)
		}
		if d.volume > 0 {
			slots[slot] = append(slots[slot], d)
		}
	}
}

func matrixRow(row []string, index map[string]int) (slot int, d Demand, err error) {
	slot, err = strconv.Atoi(row[0])
	if err != nil || slot < 0 || slot > 100_000 {
		return 0, d, fmt.Errorf("slot %q, want a number from 0 to 100000", row[0])
	}
	var okSource, okTarget bool
	d.source, okSource = index[row[1]]
	d.target, okTarget = index[row[2]]
	if !okSource || !okTarget || d.source == d.target {
		return 0, d, fmt.Errorf("src %q and dst %q, want two nodes of the topology", row[1], row[2])
	}
	d.volume, err = strconv.ParseFloat(row[3], 64)
	if err != nil || !(d.volume >= 0) || math.IsInf(d.volume, 1) {
		return 0, d, fmt.Errorf("demand %q, want a finite number of at least 0", row[3])
	}
	return slot, d, nil
}

func sorted(name string, slots [][]Demand) ([][]Demand, error) {
	order := func(a, b Demand) int { return cmp.Or(a.source-b.source, a.target-b.target) }
	for s, demands := range slots {
		slices.SortFunc(demands, order)
		for i, d := range demands {
			if i > 0 && order(demands[i-1], d) == 0 {
				return nil, fmt.Errorf("%s: slot %d: nodes %d to %d are listed twice", name, s, d.source, d.target)
			}
		}
	}
	return slots, nil
}
