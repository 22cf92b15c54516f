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
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"unsafe"
)

// Of returns a deep copy of a value. Pointers to types that shared accepts, and interfaces that
// hold them, lead to the same objects in the copy. It returns an error if two regions overlap and
// neither holds the other. Complexity: n log n in the size of what v leads to.
func Of[T any](v T, shared func(reflect.Type) bool) (T, error) {
	c := &copier{shared: shared, seen: map[visit]bool{}, maps: map[unsafe.Pointer]reflect.Value{}}
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
		c.renew(c.regions[i].to)
	}
	c.renew(root)
	return *own, nil
}

// A copier copies one value.
type copier struct {
	shared  func(reflect.Type) bool
	tight   bool // what is beyond the length of a slice is left out
	seen    map[visit]bool
	regions []region // after merge: disjoint, by address
	maps    map[unsafe.Pointer]reflect.Value
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
	to reflect.Value // the copy: an array
}

func (r *region) start() uintptr { return uintptr(r.at) }
func (r *region) end() uintptr   { return uintptr(r.at) + uintptr(r.n)*r.of.Size() }

// array returns the memory at an address as an array.
func (v visit) array() reflect.Value {
	return reflect.NewAt(reflect.ArrayOf(v.n, v.of), v.at).Elem()
}

// find collects the regions that v leads to.
func (c *copier) find(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && !c.shared(v.Type().Elem()) {
			c.enter(visit{v.UnsafePointer(), v.Type().Elem(), 1})
		}
	case reflect.Slice:
		if n := c.extent(v); n > 0 && !c.shared(v.Type().Elem()) {
			c.enter(visit{v.UnsafePointer(), v.Type().Elem(), n})
		}
	case reflect.Interface:
		if !v.IsNil() {
			c.find(v.Elem())
		}
	case reflect.Map:
		c.findMap(v)
	case reflect.Struct:
		for _, field := range v.Fields() {
			c.find(field)
		}
	case reflect.Array:
		if flat(v.Type().Elem()) {
			return
		}
		for i := range v.Len() {
			c.find(v.Index(i))
		}
	default:
	}
}

// extent returns how many values of a slice belong to its region.
func (c *copier) extent(v reflect.Value) int {
	if c.tight {
		return v.Len()
	}
	return v.Cap()
}

// enter adds a region, once, and what it leads to.
func (c *copier) enter(at visit) {
	if at.of.Size() == 0 || c.seen[at] {
		return
	}
	c.seen[at] = true
	c.regions = append(c.regions, region{visit: at})
	c.find(at.array())
}

func (c *copier) findMap(v reflect.Value) {
	if v.IsNil() || c.seen[visit{v.UnsafePointer(), v.Type(), 0}] {
		return
	}
	c.seen[visit{v.UnsafePointer(), v.Type(), 0}] = true
	for it := v.MapRange(); it.Next(); {
		c.find(it.Key())
		c.find(it.Value())
	}
}

// flat reports whether values of a type lead nowhere.
func flat(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return flat(t.Elem())
	case reflect.Struct:
		for field := range t.Fields() {
			if !flat(field.Type) {
				return false
			}
		}
		return true
	case reflect.Pointer, reflect.Slice, reflect.Interface, reflect.Map:
		return false
	default:
		return true
	}
}

// merge leaves out regions within others, and joins slices that overlap.
func (c *copier) merge() error {
	slices.SortFunc(c.regions, func(a, b region) int {
		return cmp.Or(cmp.Compare(a.start(), b.start()), cmp.Compare(b.end(), a.end()), outer(a.of, b.of))
	})
	kept := c.regions[:0]
	for _, r := range c.regions {
		if len(kept) == 0 || kept[len(kept)-1].end() <= r.start() {
			kept = append(kept, r)
			continue
		}
		last := &kept[len(kept)-1]
		switch {
		case r.end() <= last.end():
		case r.of == last.of && (r.start()-last.start())%r.of.Size() == 0:
			last.n = int((r.end() - last.start()) / r.of.Size())
		case last.start() == r.start():
			*last = r
		default:
			return fmt.Errorf("deepcopy: memory of %v and %v overlaps", last.of, r.of)
		}
	}
	c.regions = kept
	return nil
}

// outer orders two types of the same size: the one that begins with the other comes first.
func outer(a, b reflect.Type) int {
	switch {
	case a == b:
		return 0
	case holds(a, 0, b):
		return -1
	}
	return 1
}

// holds reports whether a value of type in is at an offset within one of type t.
func holds(t reflect.Type, offset uintptr, in reflect.Type) bool {
	if offset == 0 && t == in {
		return true
	}
	switch {
	case offset >= t.Size():
		return false
	case t.Kind() == reflect.Array:
		return holds(t.Elem(), offset%t.Elem().Size(), in)
	case t.Kind() != reflect.Struct:
		return false
	}
	for f := range t.Fields() {
		if offset >= f.Offset && offset-f.Offset < f.Type.Size() {
			return holds(f.Type, offset-f.Offset, in)
		}
	}
	return false
}

// allocate makes the copy of a region, which still leads to what the original does.
func (c *copier) allocate(r *region) {
	r.to = reflect.New(reflect.ArrayOf(r.n, r.of)).Elem()
	r.to.Set(r.array())
}

// copied returns the address in the copy of an address in the original.
func (c *copier) copied(at unsafe.Pointer) unsafe.Pointer {
	i, found := slices.BinarySearchFunc(c.regions, uintptr(at), func(r region, at uintptr) int { return cmp.Compare(r.start(), at) })
	if !found {
		i--
	}
	if i < 0 || uintptr(at) >= c.regions[i].end() {
		return at // of no size, or shared
	}
	r := &c.regions[i]
	return unsafe.Add(r.to.Addr().UnsafePointer(), uintptr(at)-r.start())
}

// renew makes v, which is part of the copy, lead to copies.
func (c *copier) renew(v reflect.Value) {
	if !v.CanSet() { // a field without export
		v = reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && !c.shared(v.Type().Elem()) {
			v.Set(reflect.NewAt(v.Type().Elem(), c.copied(v.UnsafePointer())).Convert(v.Type()))
		}
	case reflect.Slice:
		c.renewSlice(v)
	case reflect.Interface:
		if !v.IsNil() && !flat(v.Elem().Type()) {
			v.Set(c.renewed(v.Elem()))
		}
	case reflect.Map:
		c.renewMap(v)
	case reflect.Struct:
		for _, field := range v.Fields() {
			c.renew(field)
		}
	case reflect.Array:
		if flat(v.Type().Elem()) {
			return
		}
		for i := range v.Len() {
			c.renew(v.Index(i))
		}
	default:
	}
}

func (c *copier) renewSlice(v reflect.Value) {
	if v.Cap() == 0 || c.shared(v.Type().Elem()) {
		return
	}
	all := reflect.NewAt(reflect.ArrayOf(v.Cap(), v.Type().Elem()), c.copied(v.UnsafePointer())).Elem()
	v.Set(all.Slice3(0, v.Len(), v.Cap()).Convert(v.Type()))
}

// renewed returns a copy of a value that cannot be changed where it is.
func (c *copier) renewed(v reflect.Value) reflect.Value {
	own := reflect.New(v.Type()).Elem()
	if !v.CanInterface() { // read through a field without export
		own = read(v)
	} else {
		own.Set(v)
	}
	c.renew(own)
	return own
}

func (c *copier) renewMap(v reflect.Value) {
	if v.IsNil() {
		return
	}
	was := v.UnsafePointer()
	if done, ok := c.maps[was]; ok {
		v.Set(done)
		return
	}
	own := reflect.MakeMapWithSize(v.Type(), v.Len())
	c.maps[was] = own
	for it := v.MapRange(); it.Next(); {
		own.SetMapIndex(c.renewed(it.Key()), c.renewed(it.Value()))
	}
	v.Set(own)
}

// read returns a value that was read through a field without export as one that can be set.
func read(v reflect.Value) reflect.Value {
	own := reflect.New(v.Type()).Elem()
	own.Set(reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem())
	return own
}
