// Package deepcopy copies values with all that they lead to, fields without export among it. A copy
// and its original share no memory that either could change, so both go on independently.
//
// Memory is copied by regions. A region is what one pointer or slice leads to, with every other
// pointer and slice into it: two slices of one array are two slices of one array in the copy, too,
// and a pointer to a field leads to the field of the copy. Maps are made anew. Functions and
// channels are shared, and so is what the caller says that nobody changes.
//
// A Format does the same by way of bytes, for another process.
package deepcopy

import (
	"reflect"
	"unsafe"
)

// Of returns a deep copy of a value. Pointers to types that shared accepts, and interfaces that
// hold them, lead to the same objects in the copy. It returns an error if two regions overlap and
// neither holds the other. Complexity: n log n in the size of what v leads to.
func Of[T any](v T, shared func(reflect.Type) bool) (T, error) {
	c := newCopier(shared)
	own := new(T)
	*own = v
	root := reflect.ValueOf(own).Elem()
	c.find(root)
	if err := c.merge(); err != nil {
		var none T
		return none, err
	}
	for i := range c.regions {
		c.allocate(&c.regions[i])
	}
	for i := range c.regions {
		c.renewAll(&c.regions[i])
	}
	c.renew(root)
	return *own, nil
}

// A copier copies one value.
type copier struct {
	shared  func(reflect.Type) bool
	tight   bool // what is beyond the length of a slice is left out
	layouts map[reflect.Type]*layout
	last    map[unsafe.Pointer]int // the last region that was found at an address; nil once all are
	met     map[unsafe.Pointer]bool
	regions []region // after merge: disjoint, by address
	maps    map[unsafe.Pointer]reflect.Value
}

func newCopier(shared func(reflect.Type) bool) *copier {
	return &copier{
		shared: shared, layouts: make(map[reflect.Type]*layout),
		last: make(map[unsafe.Pointer]int), met: make(map[unsafe.Pointer]bool), maps: make(map[unsafe.Pointer]reflect.Value),
	}
}

// A visit is a walk through the memory at an address as a number of values of a type.
type visit struct {
	at unsafe.Pointer
	of reflect.Type
	n  int
}

// A region is memory that holds so many values of one type.
type region struct {
	visit
	to     unsafe.Pointer // the copy
	before int            // while regions are found: the one before at the same address; -1: none
}

func (r *region) start() uintptr { return uintptr(r.at) }
func (r *region) end() uintptr   { return uintptr(r.at) + uintptr(r.n)*r.of.Size() }

// each calls a function with each of the values of a type at an address.
func each(at unsafe.Pointer, of reflect.Type, n int, do func(reflect.Value)) {
	for i := range n {
		do(reflect.NewAt(of, unsafe.Add(at, uintptr(i)*of.Size())).Elem())
	}
}

// A layout says where values of a type lead somewhere.
type layout struct {
	flat   bool  // nowhere
	fields []int // of a struct: those that do
}

// layout returns the layout of a type, which it computes once.
func (c *copier) layout(t reflect.Type) *layout {
	l, known := c.layouts[t]
	if known {
		return l
	}
	l = &layout{flat: flat(t)}
	if t.Kind() == reflect.Struct {
		for i := range t.NumField() {
			if !flat(t.Field(i).Type) {
				l.fields = append(l.fields, i)
			}
		}
	}
	c.layouts[t] = l
	return l
}
