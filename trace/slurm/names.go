package slurm

import (
	"encoding/binary"
	"strings"
)

// names keeps texts without an allocation for each: their length and bytes, in pages.
type names struct {
	pages  [][]byte
	recent []uint32 // 1 + the number of a text that may recur, by its hash; 0: none
}

const (
	pageBits  = 16
	maxRecent = 1 << 12
)

// keep keeps a text and returns its number.
func (n *names) keep(text string) uint32 {
	if n.recent == nil {
		n.recent = make([]uint32, maxRecent)
	}
	last := &n.recent[hash(text)%maxRecent]
	if *last > 0 && string(n.bytes(*last-1)) == text {
		return *last - 1
	}
	if need := len(text) + binary.MaxVarintLen32; len(n.pages) == 0 || len(n.pages[len(n.pages)-1])+need > 1<<pageBits {
		n.pages = append(n.pages, make([]byte, 0, max(need, 1<<pageBits)))
	}
	page := &n.pages[len(n.pages)-1]
	number := uint32((len(n.pages)-1)<<pageBits | len(*page))
	*page = binary.AppendUvarint(*page, uint64(len(text)))
	*page = append(*page, text...)
	*last = number + 1
	return number
}

// hash returns the FNV-1a hash of a text.
func hash(text string) uint32 {
	h := uint32(2166136261)
	for i := range len(text) {
		h = (h ^ uint32(text[i])) * 16777619
	}
	return h
}

// at returns the text of a number.
func (n *names) at(number uint32) string { return string(n.bytes(number)) }

func (n *names) bytes(number uint32) []byte {
	page := n.pages[number>>pageBits][number&(1<<pageBits-1):]
	length, size := binary.Uvarint(page)
	return page[size:][:length]
}

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
