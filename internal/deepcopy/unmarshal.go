package deepcopy

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"time"
	"unsafe"
)

// Unmarshal returns a pointer of the type that f was made of, which leads to what Marshal wrote. It
// returns an error if data is not what a Format wrote: ErrOtherFormat if that had other types.
func (f *Format) Unmarshal(data []byte) (root any, err error) {
	defer func() {
		if r := recover(); r != nil { // what a Format wrote never gets here
			root, err = nil, fmt.Errorf("deepcopy: %v", r)
		}
	}()
	if !bytes.HasPrefix(data, f.sum[:]) {
		return nil, fmt.Errorf("deepcopy: %w", ErrOtherFormat)
	}
	u := &unmarshaler{code: code{buf: data[len(f.sum):]}, f: f}
	u.tables()
	u.reuse()
	own := reflect.New(f.types[0]).Elem()
	u.value(own)
	for len(u.buf) > 0 && u.err == nil {
		u.content()
	}
	if u.next < len(u.regions) {
		u.fail("%d regions, want %d", u.next, len(u.regions))
	}
	if u.err != nil {
		return nil, u.err
	}
	return own.Interface(), nil
}

// An unmarshaler reads one value.
type unmarshaler struct {
	code
	f       *Format
	regions []reflect.Value // slices
	maps    []reflect.Value
	next    int // region to be read
}

// tables makes the regions and maps, all empty.
func (u *unmarshaler) tables() {
	size := uint64(len(u.buf))
	for range u.count(size) {
		t := u.typeNext()
		n := u.count(size)
		if u.err != nil {
			return
		}
		u.regions = append(u.regions, reflect.MakeSlice(reflect.SliceOf(t), int(n), int(n)))
	}
	for range u.count(size) {
		t := u.typeNext()
		if u.err == nil && t.Kind() != reflect.Map {
			u.fail("a map of type %v", t)
		}
		if u.err != nil {
			return
		}
		u.maps = append(u.maps, reflect.MakeMap(t))
	}
}

// reuse makes the objects of the Format's own value the regions of their types.
func (u *unmarshaler) reuse() {
	of := map[reflect.Type][]int{}
	for i, r := range u.regions {
		of[r.Type().Elem()] = append(of[r.Type().Elem()], i)
	}
	for t, all := range u.f.own {
		if len(of[t]) != len(all) {
			continue
		}
		for k, i := range of[t] {
			if u.regions[i].Len() == 1 {
				u.regions[i] = elements(t, all[k].UnsafePointer(), 1)
			}
		}
	}
}

// count reads how many of something there are, each of which takes at least a byte.
func (u *unmarshaler) count(most uint64) uint64 {
	n := u.get()
	if n > most {
		u.fail("%d of something, want at most %d", n, most)
		return 0
	}
	return n
}

func (u *unmarshaler) typeNext() reflect.Type { return u.f.types[u.below(len(u.f.types))] }

// content reads a region, or a map.
func (u *unmarshaler) content() {
	n := u.below(len(u.maps) + 1)
	if n == 0 {
		if u.next >= len(u.regions) {
			u.fail("more than %d regions", len(u.regions))
			return
		}
		r := u.regions[u.next]
		u.next++
		for i := range r.Len() {
			u.value(r.Index(i))
		}
		return
	}
	if u.err != nil {
		return
	}
	m := u.maps[n-1]
	for range u.count(uint64(len(u.buf))) {
		key, value := reflect.New(m.Type().Key()).Elem(), reflect.New(m.Type().Elem()).Elem()
		u.value(key)
		u.value(value)
		m.SetMapIndex(key, value)
	}
}

// value reads a value into v, which can be set.
func (u *unmarshaler) value(v reflect.Value) {
	if u.err != nil {
		return
	}
	if !v.CanSet() {
		v = reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(u.get() != 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(u.signed())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(u.get())
	case reflect.Float32, reflect.Float64:
		v.SetFloat(u.float())
	case reflect.String:
		v.SetString(string(u.take(u.get())))
	case reflect.Struct:
		u.fields(v)
	case reflect.Array:
		for i := range v.Len() {
			u.value(v.Index(i))
		}
	case reflect.Interface:
		u.held(v)
	default:
		u.reference(v)
	}
}

func (u *unmarshaler) signed() int64 {
	n := u.get()
	return int64(n>>1) ^ -int64(n&1)
}

func (u *unmarshaler) float() float64 {
	var bits uint64
	for _, b := range u.take(8) {
		bits = bits<<8 | uint64(b)
	}
	return math.Float64frombits(bits)
}

func (u *unmarshaler) reference(v reflect.Value) {
	n := u.get()
	if n == 0 || u.err != nil {
		v.SetZero()
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		u.pointer(v, n)
	case reflect.Slice:
		u.slice(v, n-1)
	case reflect.Map:
		if n > uint64(len(u.maps)) || u.maps[n-1].Type() != v.Type() {
			u.fail("map %d is no %v", n, v.Type())
			return
		}
		v.Set(u.maps[n-1])
	default:
		u.fail("a value of type %v", v.Type())
	}
}

func (u *unmarshaler) pointer(v reflect.Value, n uint64) {
	to := v.Type().Elem()
	if e, ok := u.f.external[to]; ok {
		v.Set(e)
		return
	}
	if n == 1 {
		if to.Size() > 0 {
			u.fail("a pointer to a %v that is nowhere", to)
			return
		}
		v.Set(reflect.New(to))
		return
	}
	if at := u.at(n-2, to, 1); at != nil {
		v.Set(reflect.NewAt(to, at).Convert(v.Type()))
	}
}

func (u *unmarshaler) slice(v reflect.Value, length uint64) {
	of := v.Type().Elem()
	if length == 0 {
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		return
	}
	n := u.get()
	if n == 1 && of.Size() == 0 && length <= math.MaxInt32 {
		v.Set(reflect.MakeSlice(v.Type(), int(length), int(length)))
		return
	}
	if n < 2 || u.err != nil {
		u.fail("a slice of %v that is nowhere", of)
		return
	}
	if at := u.at(n-2, of, length); at != nil {
		v.Set(elements(of, at, int(length)).Slice3(0, int(length), int(length)).Convert(v.Type()))
	}
}

// at reads where in a region so many values of a type are, and returns their address; nil if they are
// not there.
func (u *unmarshaler) at(region uint64, t reflect.Type, length uint64) unsafe.Pointer {
	offset := u.get()
	if u.err != nil || region >= uint64(len(u.regions)) {
		u.fail("region %d, want less than %d", region, len(u.regions))
		return nil
	}
	r := u.regions[region]
	of := r.Type().Elem()
	room := uint64(r.Len()) * uint64(of.Size())
	if offset >= room || length > (room-offset)/uint64(t.Size()) || !fits(of, uintptr(offset)%of.Size(), t, length) {
		u.fail("%d of type %v at %d of a region of %d of type %v", length, t, offset, r.Len(), of)
		return nil
	}
	return unsafe.Add(r.UnsafePointer(), offset)
}

// fits reports whether so many values of type in are at an offset in values of type t.
func fits(t reflect.Type, offset uintptr, in reflect.Type, length uint64) bool {
	return t == in && offset == 0 || holds(t, offset, in) && length == 1 || inArray(t, offset, in, length)
}

// inArray reports whether an array at or around an offset has so many values of type in there.
func inArray(t reflect.Type, offset uintptr, in reflect.Type, length uint64) bool {
	switch t.Kind() {
	case reflect.Array:
		if t.Elem() == in {
			return offset%in.Size() == 0 && length <= uint64((t.Size()-offset)/in.Size())
		}
		return inArray(t.Elem(), offset%t.Elem().Size(), in, length)
	case reflect.Struct:
		for field := range t.Fields() {
			if offset >= field.Offset && offset-field.Offset < field.Type.Size() {
				return inArray(field.Type, offset-field.Offset, in, length)
			}
		}
	default:
	}
	return false
}

// held reads what an interface holds.
func (u *unmarshaler) held(v reflect.Value) {
	n := u.below(len(u.f.types) + 1)
	if n == 0 || u.err != nil {
		v.SetZero()
		return
	}
	t := u.f.types[n-1]
	if !t.Implements(v.Type()) {
		u.fail("type %v in a %v", t, v.Type())
		return
	}
	own := reflect.New(t).Elem()
	u.value(own)
	v.Set(own)
}

func (u *unmarshaler) fields(v reflect.Value) {
	if v.Type() == timeType {
		sec := u.signed()
		v.Set(reflect.ValueOf(time.Unix(sec, int64(u.below(1e9))).UTC()))
		return
	}
	template := u.f.funcs[v.Type()]
	for i := range v.NumField() {
		if v.Type().Field(i).Type.Kind() != reflect.Func {
			u.value(v.Field(i))
		} else {
			u.function(v.Field(i), template, i)
		}
	}
}

// function leaves a function that is there, or sets it to that of the template.
func (u *unmarshaler) function(v, template reflect.Value, i int) {
	own := reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()
	if u.get() == 0 {
		own.SetZero()
		return
	}
	if !own.IsNil() {
		return
	}
	if !template.IsValid() || template.Field(i).IsNil() {
		u.fail("a function of type %v, want none", v.Type())
		return
	}
	if template.CanAddr() {
		own.Set(reflect.NewAt(v.Type(), template.Field(i).Addr().UnsafePointer()).Elem())
		return
	}
	u.fail("a function of type %v in a value that is not in memory", v.Type())
}
