package memory

import (
	"maps"
	"slices"
)

// Slice writes or reads a slice. each handles an element, usually a method: (*item).Remember.
func Slice[T any](m *Codec, of *[]T, each func(*T, *Codec)) {
	n, some := m.length(len(*of), *of != nil, 1)
	if m.decoding {
		*of = nil
		if some {
			*of = make([]T, n)
		}
	}
	for i := range *of {
		if each(&(*of)[i], m); m.err != nil {
			return
		}
	}
}

// Map writes or reads a map in the order of its keys. each handles a value.
func Map[K ~string, V any](m *Codec, of *map[K]V, each func(*V, *Codec)) {
	n, some := m.length(len(*of), *of != nil, 2)
	if !m.decoding {
		for _, key := range slices.Sorted(maps.Keys(*of)) {
			name, value := string(key), (*of)[key]
			m.string(&name)
			each(&value, m)
		}
		return
	}
	if *of = nil; !some {
		return
	}
	*of = make(map[K]V, n)
	for range n {
		var name string
		var value V
		m.string(&name)
		if each(&value, m); m.err != nil {
			return
		}
		(*of)[K(name)] = value
	}
}

// Number writes or reads a number; pass it to Map or Slice as each.
func Number[T int | int32 | int64](v *T, m *Codec) { number(m, v) }

// Float writes or reads a float; pass it to Map or Slice as each.
func Float(v *float64, m *Codec) { m.float64(v) }

// Pointer writes or reads the object that a pointer refers to, or nil. Two pointers to one object become two objects;
// see Once.
func Pointer[T any](m *Codec, p **T, each func(*T, *Codec)) {
	some := *p != nil
	if m.bool(&some); !some {
		*p = nil
		return
	}
	if m.decoding {
		*p = new(T)
	}
	each(*p, m)
}

// To converts a function for objects into one for pointers to objects, for Map and Slice.
func To[T any](each func(*T, *Codec)) func(**T, *Codec) {
	return func(p **T, m *Codec) { Pointer(m, p, each) }
}

// Copied writes or reads an object like Pointer. When saved and restored in the same process, the function copied copies
// the object instead, and the copies may share what no copy changes. Several goroutines may call it for a saved
// object.
func Copied[T any](m *Codec, p **T, copied func(*T) *T, each func(*T, *Codec)) {
	if !m.sharing {
		Pointer(m, p, each)
		return
	}
	object := *p
	if !m.decoding && object != nil {
		object = copied(object)
	}
	if Shared(m, &object); !m.decoding {
		return
	}
	if *p = object; object != nil {
		*p = copied(object)
	}
}

// Once writes or reads an object to which several pointers refer, like Pointer, but all pointers refer to one object
// afterwards. When saved and restored in the same process it is shared, so it must not be changed.
func Once[T any](m *Codec, p **T, each func(*T, *Codec)) {
	if m.sharing {
		Shared(m, p)
		return
	}
	m.is(kindShared)
	if m.decoding {
		n := m.get()
		if *p = nil; n != uint64(len(m.objects))+1 {
			refer(m, p, n)
			return
		}
		*p = new(T)
		m.objects = append(m.objects, *p)
		each(*p, m)
		return
	}
	if *p == nil {
		m.put(0)
		return
	}
	n, met := m.numbers[*p]
	if !met {
		n = m.own(*p)
	}
	if m.put(uint64(n) + 1); !met {
		each(*p, m)
	}
}

// Own registers an object as written or read here, so that Shared can refer to it elsewhere.
func Own[T comparable](m *Codec, object T) {
	var none T
	switch {
	case object == none || m.sharing:
	case m.decoding:
		m.objects = append(m.objects, object)
	default:
		m.own(object)
	}
}

func (m *Codec) own(object any) int {
	n := len(m.objects)
	m.objects, m.numbers[object] = append(m.objects, object), n
	return n
}

// Shared writes or reads a reference to an immutable object that belongs to another part of the state. In the same
// process the object stays the same. In another process it is the object for which Own was called, or nil.
func Shared[T comparable](m *Codec, p *T) {
	m.is(kindShared)
	var none T
	if m.decoding {
		*p = none
		refer(m, p, m.get())
		return
	}
	if *p == none {
		m.put(0)
		return
	}
	n, there := m.numbers[*p]
	switch {
	case there:
	case m.sharing:
		n = m.own(*p)
	default:
		m.put(0)
		return
	}
	m.put(uint64(n) + 1)
}

// refer sets a reference to object number n, from 1; 0 is nil.
func refer[T any](m *Codec, p *T, n uint64) {
	if n == 0 || m.err != nil {
		return
	}
	if n > uint64(len(m.objects)) {
		m.Fail("object %d of %d", n, len(m.objects))
		return
	}
	object, is := m.objects[n-1].(T)
	if !is {
		m.Fail("object %d is a %T", n, m.objects[n-1])
		return
	}
	*p = object
}
