package deepcopy

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"time"
	"unsafe"
)

// ErrOtherFormat says that bytes were written in another Format: types have changed since.
var ErrOtherFormat = errors.New("written by a program with other types")

// A Format writes all that a value leads to as bytes, and makes an equal value of them, in another
// process, too. Two values are equal if no program can tell them apart but by addresses, by the capacity
// of slices, and by the location of times, which becomes UTC. Equal values give equal bytes, unless they
// lead to memory that only the iteration order of a map put there.
//
// Functions cannot be written. What is read has those of the value that the Format was made of: an object whose type
// leads to functions is read into the object of that type in this value, so that functions which
// belong to it still do; so a Format reads once. If there are not as many objects of the type in both, they are new,
// with the functions of the first one. What cannot be written or read is an error.
type Format struct {
	types    []reflect.Type // every type that can be met
	index    map[reflect.Type]int
	funcs    map[reflect.Type]reflect.Value   // a struct of each type that has functions in fields
	own      map[reflect.Type][]reflect.Value // pointers to objects whose types lead to functions
	external map[reflect.Type]reflect.Value   // pointers, by the type they lead to
	sum      [sha256.Size]byte                // of the types
}

// NewFormat returns a Format for what root, a pointer, leads to. Interfaces may hold types of what root
// leads to now, and of the samples. Pointers to the types of external are not followed: in what is read they
// are those in external.
func NewFormat(root any, external []any, samples ...any) *Format {
	f := &Format{index: map[reflect.Type]int{}, funcs: map[reflect.Type]reflect.Value{}, own: map[reflect.Type][]reflect.Value{}, external: map[reflect.Type]reflect.Value{}}
	for _, e := range external {
		f.external[reflect.TypeOf(e).Elem()] = reflect.ValueOf(e)
	}
	seen := map[visit]bool{}
	for _, v := range append([]any{root}, samples...) {
		f.add(reflect.TypeOf(v))
		f.meet(reflect.ValueOf(v), seen)
	}
	f.describe()
	return f
}

// timeType is written as an instant.
var timeType = reflect.TypeFor[time.Time]()

// add adds a type and all that its declaration leads to.
func (f *Format) add(t reflect.Type) {
	if _, known := f.index[t]; known {
		return
	}
	f.index[t] = len(f.types)
	f.types = append(f.types, t)
	if t == timeType || f.outside(t) {
		return
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		f.add(t.Elem())
	case reflect.Map:
		f.add(t.Key())
		f.add(t.Elem())
	case reflect.Struct:
		for field := range t.Fields() {
			f.add(field.Type)
		}
	default:
	}
}

func (f *Format) outside(t reflect.Type) bool {
	_, ok := f.external[t]
	return ok
}

// meet adds the types that interfaces hold, and keeps structs with functions.
func (f *Format) meet(v reflect.Value, seen map[visit]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		at := visit{v.UnsafePointer(), v.Type(), 1}
		if !v.IsNil() && !seen[at] && !f.outside(v.Type().Elem()) {
			seen[at] = true
			if f.leads(v.Type().Elem(), map[reflect.Type]bool{}) {
				f.own[v.Type().Elem()] = append(f.own[v.Type().Elem()], v)
			}
			f.meet(v.Elem(), seen)
		}
	case reflect.Interface:
		if !v.IsNil() {
			f.add(v.Elem().Type())
			f.meet(v.Elem(), seen)
		}
	case reflect.Struct:
		if v.Type() != timeType {
			f.meetFields(v, seen)
		}
	case reflect.Array, reflect.Slice:
		for i := range v.Len() {
			f.meet(v.Index(i), seen)
		}
	default:
	}
}

// leads reports whether values of a type lead to functions, but for what interfaces in them hold. seen
// are the types that are being looked at.
func (f *Format) leads(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] || f.outside(t) {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Func:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return f.leads(t.Elem(), seen)
	case reflect.Struct:
		for field := range t.Fields() {
			if f.leads(field.Type, seen) {
				return true
			}
		}
	default:
	}
	return false
}

func (f *Format) meetFields(v reflect.Value, seen map[visit]bool) {
	for field, value := range v.Fields() {
		if field.Type.Kind() == reflect.Func && f.funcs[v.Type()].Kind() == reflect.Invalid {
			f.funcs[v.Type()] = v
		}
		f.meet(value, seen)
	}
}

// describe computes the sum of the types.
func (f *Format) describe() {
	h := sha256.New()
	for _, t := range f.types {
		fmt.Fprintf(h, "%s %s %v %d\n", t.PkgPath(), t, t.Kind(), t.Size())
		if t.Kind() != reflect.Struct {
			continue
		}
		for field := range t.Fields() {
			fmt.Fprintf(h, "\t%s %d %d\n", field.Name, field.Offset, f.index[field.Type])
		}
	}
	h.Sum(f.sum[:0])
}

// A code writes bytes, or reads them. The first error stays in err.
type code struct {
	buf []byte
	err error
}

func (c *code) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("deepcopy: "+format, args...)
	}
}

func (c *code) put(n uint64) { c.buf = binary.AppendUvarint(c.buf, n) }

// get reads what put wrote; 0 after an error.
func (c *code) get() uint64 {
	n, size := binary.Uvarint(c.buf)
	if size <= 0 {
		c.fail("the bytes end, or are no number")
		c.buf = nil
		return 0
	}
	c.buf = c.buf[size:]
	return n
}

// below reads a number below a limit.
func (c *code) below(limit int) int {
	n := c.get()
	if c.err == nil && n >= uint64(limit) {
		c.fail("number %d, want less than %d", n, limit)
	}
	if c.err != nil {
		return 0
	}
	return int(n)
}

// take reads so many bytes.
func (c *code) take(n uint64) []byte {
	if n > uint64(len(c.buf)) {
		c.fail("%d bytes are left, want %d", len(c.buf), n)
		return nil
	}
	text := c.buf[:n]
	c.buf = c.buf[n:]
	return text
}

// elements returns n values of a type at an address, as a slice.
func elements(t reflect.Type, at unsafe.Pointer, n int) reflect.Value {
	return reflect.SliceAt(t, at, n)
}
