package deepcopy

import (
	"cmp"
	"reflect"
	"slices"
	"unsafe"
)

// allocate makes the copy of a region, which still leads to what the original does.
func (c *copier) allocate(r *region) {
	if r.n == 1 {
		own := reflect.New(r.of)
		own.Elem().Set(reflect.NewAt(r.of, r.at).Elem())
		r.to = own.UnsafePointer()
		return
	}
	own := reflect.MakeSlice(reflect.SliceOf(r.of), r.n, r.n)
	reflect.Copy(own, elements(r.of, r.at, r.n))
	r.to = own.UnsafePointer()
}

// renewAll makes all values of the copy of a region lead to copies.
func (c *copier) renewAll(r *region) {
	if !c.layout(r.of).flat {
		each(r.to, r.of, r.n, c.renew)
	}
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
	return unsafe.Add(r.to, uintptr(at)-r.start())
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
		if !v.IsNil() && !c.layout(v.Elem().Type()).flat {
			v.Set(c.renewed(v.Elem()))
		}
	case reflect.Map:
		c.renewMap(v)
	case reflect.Struct:
		for _, i := range c.layout(v.Type()).fields {
			c.renew(v.Field(i))
		}
	case reflect.Array:
		if c.layout(v.Type()).flat {
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
	*(*unsafe.Pointer)(v.Addr().UnsafePointer()) = c.copied(v.UnsafePointer()) // the first word of a slice is where its array is
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
