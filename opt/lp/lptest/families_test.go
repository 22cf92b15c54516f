package lptest

import (
	"slices"
	"strings"
	"testing"

	"github.com/oxgang/oxgang/opt/lp"
)

// Programs are those of their seed, and others under another.
func TestFamilies_go_by_their_seed(t *testing.T) {
	for _, f := range Families() {
		one, same, other := f.Build(1, f.Sizes[0]), f.Build(1, f.Sizes[0]), f.Build(2, f.Sizes[0])
		if !slices.Equal(snapshot(one), snapshot(same)) || slices.Equal(snapshot(one), snapshot(other)) {
			t.Errorf("%s: want equal programs of equal seeds alone", f.Name)
		}
	}
}

// What is hard about a family is there.
func TestFamilies_have_what_they_are_for(t *testing.T) {
	for _, f := range Families() {
		p := f.Build(3, f.Sizes[1])
		free, fixed, empty := 0, 0, p.RowSlots()
		for j := range p.ColSlots() {
			if low, up := p.Lows()[j], p.Ups()[j]; low == -inf && up == inf {
				free++
			} else if low == up {
				fixed++
			}
		}
		for i := range p.RowSlots() {
			if len(p.RowCols(i)) > 0 {
				empty--
			}
		}
		switch f.Name {
		case "least-absolute-deviations":
			if free != 15 {
				t.Errorf("%s: %d free columns, want 15", f.Name, free)
			}
		case "netlib-like":
			if free < 50 || fixed < 50 || empty < 10 {
				t.Errorf("%s: %d free and %d fixed columns, %d empty rows; want more", f.Name, free, fixed, empty)
			}
		}
	}
}

// A proof that is wrong in one place is refused, and says where. The program is min 2x, x >= 3, 0 <= x <= 10.
func TestCertify(t *testing.T) {
	p, s := one(t)
	for want, v := range map[string][2]float64{
		"":                       {3, 2},
		"row 0":                  {2.9, 2},
		"column 0":               {11, 2},
		"objective 6":            {3, 1},
		"that of the duals 6":    {4, 2},
		"dual of row 0: -0.0005": {3, -0.0005},
	} {
		err := Certify(p, []float64{v[0]}, []float64{v[1]}, 1e-4)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("x %v and y %v: error %v, want %q", v[0], v[1], err, want)
		}
	}
	open := &lp.Problem{}
	m := &maker{p: open}
	m.col(1, -inf, inf)
	if err := Certify(open, []float64{0}, nil, 1e-4); err == nil || !strings.Contains(err.Error(), "reduced cost of column 0: 1") {
		t.Errorf("a free column that costs: error %v", err)
	}
	if s.Objective != 6 {
		t.Errorf("objective %v, want 6", s.Objective)
	}
}
