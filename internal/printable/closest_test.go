package printable

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestClosest(t *testing.T) {
	tests := []struct {
		name  string
		names []string
		want  []string
	}{
		{"cifar-3", []string{"bert-1", "cifar10-3", "cifar10-0", "cifar10-1"}, []string{"cifar10-3", "cifar10-0", "cifar10-1"}},
		{"mnist", []string{"mnist-2"}, []string{"mnist-2"}},
		{"a", nil, nil},
		{"", []string{"b", "a"}, []string{"a", "b"}}, // ties by name
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, Closest(test.name, test.names)); diff != "" {
			t.Errorf("%s among %v (-want +got):\n%s", test.name, test.names, diff)
		}
	}
}

// Nobody is told names that have little to do with what was written.
func TestMeant(t *testing.T) {
	names := []string{"sia", "fifo", "shockwave", "easy"}
	for name, want := range map[string][]string{"siaa": {"sia"}, "shokwav": {"shockwave"}, "fifo2": {"fifo"}, "esay": {"easy"}, "lottery": {}, "": {}} {
		if diff := cmp.Diff(want, Meant(name, names)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", name, diff)
		}
	}
}

func TestDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{{"", "", 0}, {"ab", "", 2}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"ab", "ba", 1}, {"frist", "first", 1}, {"abc", "bca", 2}, {"abcd", "badc", 2}}
	for _, test := range tests {
		if got := distance(test.a, test.b); got != test.want {
			t.Errorf("%q to %q: got %d, want %d", test.a, test.b, got, test.want)
		}
	}
}
