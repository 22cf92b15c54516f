package slurm

import "strings"

// maxRecent is how many texts are remembered that may recur.
const maxRecent = 1 << 12

// interned keeps each distinct value once.
type interned[T comparable] struct {
	all    []T
	number map[T]uint32
}

// keep keeps a value, as clone returns it, and returns its number.
func (n *interned[T]) keep(value T, clone func(T) T) uint32 {
	if number, ok := n.number[value]; ok {
		return number
	}
	if n.number == nil {
		n.number = make(map[T]uint32)
	}
	number, own := uint32(len(n.all)), clone(value)
	n.all, n.number[own] = append(n.all, own), number
	return number
}

// recalled keeps what the texts mean that came last: many recur. The zero value has none.
type recalled[T any] struct{ known map[string]T }

// of returns what a text means, by parse, which says what was wanted if it means nothing.
func (m *recalled[T]) of(text string, parse func(string) (T, string)) (value T, want string) {
	if value, ok := m.known[text]; ok {
		return value, ""
	}
	if value, want = parse(text); want != "" {
		return value, want
	}
	if m.known == nil || len(m.known) == maxRecent {
		m.known = make(map[string]T)
	}
	m.known[strings.Clone(text)] = value
	return value, ""
}
