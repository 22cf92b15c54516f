package slurm

import (
	"encoding/binary"
	"strings"
)

// names keeps texts without an allocation for each: their length and bytes, in pages.
type names struct {
	pages  [][]byte
	recent map[string]uint32 // of those that may recur
}

const (
	pageBits  = 16
	maxRecent = 1 << 12
)

// keep keeps a text and returns its number.
func (n *names) keep(text string) uint32 {
	if number, ok := n.recent[text]; ok {
		return number
	}
	if need := len(text) + binary.MaxVarintLen32; len(n.pages) == 0 || len(n.pages[len(n.pages)-1])+need > 1<<pageBits {
		n.pages = append(n.pages, make([]byte, 0, max(need, 1<<pageBits)))
	}
	page := &n.pages[len(n.pages)-1]
	number := uint32((len(n.pages)-1)<<pageBits | len(*page))
	*page = binary.AppendUvarint(*page, uint64(len(text)))
	*page = append(*page, text...)
	if n.recent == nil || len(n.recent) == maxRecent {
		n.recent = make(map[string]uint32)
	}
	n.recent[strings.Clone(text)] = number
	return number
}

// at returns the text of a number.
func (n *names) at(number uint32) string {
	page := n.pages[number>>pageBits][number&(1<<pageBits-1):]
	length, size := binary.Uvarint(page)
	return string(page[size:][:length])
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
