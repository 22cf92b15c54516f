package deepcopy

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
)

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
		for _, i := range c.layout(v.Type()).fields {
			c.find(v.Field(i))
		}
	case reflect.Array:
		if c.layout(v.Type()).flat {
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
	if at.of.Size() == 0 {
		return
	}
	before, there := c.last[at.at]
	if !there {
		before = -1
	}
	for i := before; i >= 0; i = c.regions[i].before {
		if c.regions[i].visit == at {
			return
		}
	}
	c.last[at.at] = len(c.regions)
	c.regions = append(c.regions, region{visit: at, before: before})
	if !c.layout(at.of).flat {
		each(at.at, at.of, at.n, c.find)
	}
}

func (c *copier) findMap(v reflect.Value) {
	if v.IsNil() || c.met[v.UnsafePointer()] {
		return
	}
	c.met[v.UnsafePointer()] = true
	if c.layout(v.Type().Key()).flat && c.layout(v.Type().Elem()).flat {
		return
	}
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
	c.last, c.met = nil, nil
	slices.SortFunc(c.regions, func(a, b region) int {
		if order := cmp.Or(cmp.Compare(a.start(), b.start()), cmp.Compare(b.end(), a.end())); order != 0 {
			return order
		}
		return outer(a.of, b.of)
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
