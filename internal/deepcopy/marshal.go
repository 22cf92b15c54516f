package deepcopy

import (
	"bytes"
	"cmp"
	"math"
	"reflect"
	"slices"
	"time"
	"unsafe"
)

// Marshal returns all that root, a pointer of the type that f was made of, leads to. It returns an
// error if that has a function, a channel or a type that f does not know.
func (f *Format) Marshal(root any) ([]byte, error) {
	v := reflect.ValueOf(root)
	m := &marshaler{f: f, memory: newCopier(f.unfollowed), numbers: map[int]int{}, maps: map[unsafe.Pointer]int{}}
	m.memory.tight = true
	m.memory.find(v)
	if err := m.memory.merge(); err != nil {
		return nil, err
	}
	m.value(v)
	m.rest()
	if m.err != nil {
		return nil, m.err
	}
	return m.whole(), nil
}

// locationType is that of the location of times, which is not written.
var locationType = reflect.TypeFor[time.Location]()

func (f *Format) unfollowed(t reflect.Type) bool { return f.outside(t) || t == locationType }

// A marshaler writes one value: what the root is, then regions and maps in the order in which they
// are first met.
type marshaler struct {
	code
	f       *Format
	memory  *copier
	numbers map[int]int // of regions
	order   []int       // regions by number
	maps    map[unsafe.Pointer]int
	table   []reflect.Value // maps by number
	done    struct{ regions, maps int }
	later   []int // maps by number whose keys are pointers
}

// whole returns the bytes: the sum of the types, the regions and maps, and their contents.
func (m *marshaler) whole() []byte {
	head := code{buf: slices.Clone(m.f.sum[:])}
	head.put(uint64(len(m.order)))
	for _, i := range m.order {
		r := &m.memory.regions[i]
		head.put(uint64(m.f.index[r.of]))
		head.put(uint64(r.n))
	}
	head.put(uint64(len(m.table)))
	for _, v := range m.table {
		head.put(uint64(m.f.index[v.Type()]))
	}
	return append(head.buf, m.buf...)
}

// rest writes regions and maps until none is left that was met. Maps whose keys are pointers come
// last, because the order of their keys is that in which these were met.
func (m *marshaler) rest() {
	for m.err == nil {
		switch {
		case m.done.regions < len(m.order):
			r := m.memory.regions[m.order[m.done.regions]]
			m.put(0)
			m.done.regions++
			all := elements(r.of, r.at, r.n)
			for i := range r.n {
				m.value(all.Index(i))
			}
		case m.done.maps < len(m.table):
			n := m.done.maps
			m.done.maps++
			if m.table[n].Type().Key().Kind() == reflect.Pointer {
				m.later = append(m.later, n)
				continue
			}
			m.entries(n)
		case len(m.later) > 0:
			n := m.later[0]
			m.later = m.later[1:]
			m.entries(n)
		default:
			return
		}
	}
}

// entries writes a map, by its keys.
func (m *marshaler) entries(n int) {
	type entry struct {
		sort       []byte
		key, value reflect.Value
	}
	v := m.table[n]
	all := make([]entry, 0, v.Len())
	for it := v.MapRange(); it.Next(); {
		all = append(all, entry{m.rank(it.Key()), it.Key(), it.Value()})
	}
	slices.SortFunc(all, func(a, b entry) int { return bytes.Compare(a.sort, b.sort) })
	m.put(uint64(n) + 1)
	m.put(uint64(len(all)))
	for _, e := range all {
		m.value(e.key)
		m.value(e.value)
	}
}

// rank returns bytes by which a key is sorted: what it is, or if it is a pointer when its region was
// met; for regions that were not, what they lead to.
func (m *marshaler) rank(key reflect.Value) []byte {
	apart := &marshaler{f: m.f, memory: m.memory, numbers: map[int]int{}, maps: map[unsafe.Pointer]int{}}
	if key.Kind() == reflect.Pointer && !key.IsNil() {
		i, at := m.memory.region(key.UnsafePointer())
		if number, met := m.numbers[i]; met {
			return append([]byte{0}, binaryOrder(uint64(number), uint64(at))...)
		}
	} else if !flat(key.Type()) {
		m.fail("map with keys of type %v, want pointers or plain values", key.Type())
	}
	apart.value(key)
	apart.rest()
	return append([]byte{1}, apart.buf...)
}

// binaryOrder returns bytes that sort as numbers do.
func binaryOrder(numbers ...uint64) []byte {
	var b []byte
	for _, n := range numbers {
		for shift := 56; shift >= 0; shift -= 8 {
			b = append(b, byte(n>>shift))
		}
	}
	return b
}

// region returns the index of the region with an address, and where in it that is; -1: none.
func (c *copier) region(at unsafe.Pointer) (i int, offset uintptr) {
	i, found := slices.BinarySearchFunc(c.regions, uintptr(at), func(r region, at uintptr) int { return cmp.Compare(r.start(), at) })
	if !found {
		i--
	}
	if i < 0 || uintptr(at) >= c.regions[i].end() {
		return -1, 0
	}
	return i, uintptr(at) - c.regions[i].start()
}

// address writes where in which region something is; 1 alone for something of no size.
func (m *marshaler) address(at unsafe.Pointer) {
	i, offset := m.memory.region(at)
	if i < 0 {
		m.put(1)
		return
	}
	number, met := m.numbers[i]
	if !met {
		number = len(m.order)
		m.numbers[i], m.order = number, append(m.order, i)
	}
	m.put(uint64(number) + 2)
	m.put(uint64(offset))
}

// value writes a value.
func (m *marshaler) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		m.put(map[bool]uint64{true: 1}[v.Bool()])
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n := v.Int()
		m.put(uint64(n<<1) ^ uint64(n>>63))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		m.put(v.Uint())
	case reflect.Float32, reflect.Float64:
		m.buf = append(m.buf, binaryOrder(math.Float64bits(v.Float()))...)
	case reflect.String:
		m.put(uint64(v.Len()))
		m.buf = append(m.buf, v.String()...)
	case reflect.Struct:
		m.fields(v)
	case reflect.Array:
		for i := range v.Len() {
			m.value(v.Index(i))
		}
	case reflect.Interface:
		m.held(v)
	default:
		m.reference(v)
	}
}

// reference writes a value that leads elsewhere, or nil.
func (m *marshaler) reference(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Chan, reflect.Func:
	default:
		m.fail("a value of type %v", v.Type())
		return
	}
	if v.IsNil() {
		m.put(0)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if m.f.outside(v.Type().Elem()) {
			m.put(1)
			return
		}
		m.address(v.UnsafePointer())
	case reflect.Slice:
		m.put(uint64(v.Len()) + 1)
		if v.Len() > 0 {
			m.address(v.UnsafePointer())
		}
	case reflect.Map:
		n, met := m.maps[v.UnsafePointer()]
		if !met {
			n = len(m.table)
			m.maps[v.UnsafePointer()], m.table = n, append(m.table, v)
		}
		m.put(uint64(n) + 1)
	default:
		m.fail("a value of type %v that is not nil", v.Type())
	}
}

// held writes what an interface holds, after its type.
func (m *marshaler) held(v reflect.Value) {
	if v.IsNil() {
		m.put(0)
		return
	}
	n, known := m.f.index[v.Elem().Type()]
	if !known {
		m.fail("type %v in a %v, want one that the format knows", v.Elem().Type(), v.Type())
		return
	}
	m.put(uint64(n) + 1)
	m.value(v.Elem())
}

func (m *marshaler) fields(v reflect.Value) {
	if v.Type() == timeType {
		m.instant(v)
		return
	}
	template, known := m.f.funcs[v.Type()]
	i := 0
	for field, value := range v.Fields() {
		switch {
		case field.Type.Kind() != reflect.Func:
			m.value(value)
		case !value.IsNil() && (!known || template.Field(i).IsNil()):
			m.fail("function %s of a %v", field.Name, v.Type())
		default:
			m.put(map[bool]uint64{true: 1}[!value.IsNil()])
		}
		i++
	}
}

// instant writes seconds since year 1 and nanoseconds.
func (m *marshaler) instant(v reflect.Value) {
	own := reflect.New(timeType).Elem()
	copyMemory(own, v)
	t := own.Interface().(time.Time)
	sec := t.Unix()
	m.put(uint64(sec<<1) ^ uint64(sec>>63))
	m.put(uint64(t.Nanosecond()))
}

// copyMemory copies a value that may have been read through a field without export.
func copyMemory(to, from reflect.Value) {
	if from.CanAddr() {
		to.Set(reflect.NewAt(from.Type(), from.Addr().UnsafePointer()).Elem())
		return
	}
	for i := range from.NumField() { // of a map or an interface: field by field
		field := reflect.NewAt(to.Field(i).Type(), to.Field(i).Addr().UnsafePointer()).Elem()
		switch f := from.Field(i); f.Kind() {
		case reflect.Uint64:
			field.SetUint(f.Uint())
		case reflect.Int64:
			field.SetInt(f.Int())
		default: // the location
		}
	}
}
