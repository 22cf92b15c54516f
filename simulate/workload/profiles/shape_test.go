package profiles

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// slowKey is the key by the definition: the least of all rotations, compared
// as slices.
func slowKey(shape []int) shapeKey {
	shape = slices.DeleteFunc(slices.Clone(shape), func(n int) bool { return n == 0 })
	least := shape
	for i := range shape {
		if r := slices.Concat(shape[i:], shape[:i]); slices.Compare(r, least) < 0 {
			least = r
		}
	}
	var key shapeKey
	for _, n := range least {
		key = key<<4 | shapeKey(n)
	}
	return key
}

func TestSummariseAgreesWithDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(0, keyGPUs), 0, keyNodes).Draw(t, "shape")
		key, nodes, gpus := summarise(shape)
		if key != slowKey(shape) {
			t.Fatalf("key of %v: got %x, want %x", shape, key, slowKey(shape))
		}
		wantNodes, wantGPUs := 0, 0
		for _, n := range shape {
			wantGPUs += n
			wantNodes += min(n, 1)
		}
		if nodes != wantNodes || gpus != wantGPUs {
			t.Fatalf("%v: got %d nodes, %d GPUs, want %d, %d", shape, nodes, gpus, wantNodes, wantGPUs)
		}
	})
}

// TestShapeKeyExamples: the examples of the shared data's README.
func TestShapeKeyExamples(t *testing.T) {
	for _, c := range []struct {
		shape  []int
		digits string
	}{
		{[]int{4, 2, 4}, "244"},
		{[]int{2, 4, 3}, "243"},
		{[]int{3, 4, 2}, "234"},
		{[]int{0, 8, 0}, "8"},
	} {
		got, _, _ := summarise(c.shape)
		want, _, _, ok := parseShape(c.digits)
		if !ok || got != want {
			t.Errorf("%v: got key %x, want that of %s, %x", c.shape, got, c.digits, want)
		}
	}
	if a, _, _ := summarise([]int{2, 4, 3}); a == slowKey([]int{2, 3, 4}) {
		t.Error("(2, 4, 3) and (2, 3, 4) have one key, want two: they are no rotations of each other")
	}
}

func TestShapesWithoutKey(t *testing.T) {
	for _, shape := range [][]int{nil, {0}, {keyGPUs + 1}, slices.Repeat([]int{1}, keyNodes+1)} {
		if key, _, _ := summarise(shape); key != 0 {
			t.Errorf("%v: got key %x, want none", shape, key)
		}
	}
	for _, digits := range []string{"", "0", "40", "4a", "11111111111111111"} {
		if _, _, _, ok := parseShape(digits); ok {
			t.Errorf("placement %q is accepted", digits)
		}
	}
}
