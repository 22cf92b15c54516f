package slurm

import "strings"

const maxRecent = 1 << 12

type interned[T comparable] struct {
	all    []T
	number map[T]uint32
}

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

type textCache[T any] struct{ known map[string]T }

func (m *textCache[T]) of(text string, parse func(string) (T, string)) (value T, want string) {
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
