// Package memory saves the state of objects, such as a scheduler and its policy, and restores it.
//
// A type lists its fields once, in a method Remember, for both directions, so that they cannot differ. Omitted
// fields must not affect later results; caches and scratch memory qualify.
//
//	func (t *track) Remember(m *memory.Codec) { m.Fields(&t.jobs, &t.squares) }
//
// Take and Restore copy within a process and share immutable objects (Shared). Marshal and Unmarshal transfer to
// another process, where a shared object becomes the one that its owner read (Own), or nil.
package memory

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
)

// ErrFormat is returned for bytes of another version, or damaged ones.
var ErrFormat = errors.New("written in another format, or damaged")

// Version is the version of the saved form. Raise it when a Remember method changes.
const Version = 3

// A Rememberer is an object whose state can be saved and restored. Its method Remember lists its fields.
type Rememberer interface{ Remember(m *Codec) }

// A Codec writes or reads the fields of an object. It keeps the first error and reads nothing after it.
type Codec struct {
	data     []byte
	at       int // position of the next byte to read
	decoding bool
	sharing  bool // within a process
	err      error
	sum      uint64 // of the kinds of fields, in order
	objects  []any
	numbers  map[any]int       // of objects, while writing
	texts    map[string]string // interned strings
	strings  []string          // within a process: distinct strings, which data has by number
	places   map[string]int    // of strings, while writing
}

// Decoding reports whether the codec restores an object rather than saves one.
func (m *Codec) Decoding() bool { return m.decoding }

// Sharing reports whether the state is saved and restored in the same process.
func (m *Codec) Sharing() bool { return m.sharing }

// Err returns the first error since the codec was made.
func (m *Codec) Err() error { return m.err }

// Fail records an error, unless there was one before.
func (m *Codec) Fail(format string, args ...any) {
	if m.err == nil {
		m.err = fmt.Errorf("memory: "+format, args...)
	}
}

// An Image is a saved state within this process. It can be restored any number of times, also concurrently.
type Image struct {
	data    []byte
	sum     uint64
	objects []any
	strings []string
}

// Take saves the state of an object, which may be nil, for this process.
func Take(of Rememberer) (*Image, error) {
	m := &Codec{sharing: true, numbers: map[any]int{}, places: map[string]int{}}
	if of != nil {
		of.Remember(m)
	}
	return &Image{m.data, m.sum, m.objects, m.strings}, m.err
}

// Restore restores the saved state in an object of the same type, made the same way.
func (i *Image) Restore(into Rememberer) error {
	m := &Codec{data: i.data, decoding: true, sharing: true, objects: i.objects, strings: i.strings}
	return m.read(into, i.sum)
}

// Marshal saves the state of an object as bytes, for another process.
func Marshal(of Rememberer) ([]byte, error) {
	m := &Codec{numbers: map[any]int{}}
	of.Remember(m)
	head := binary.AppendUvarint(nil, Version)
	return append(binary.LittleEndian.AppendUint64(head, m.sum), m.data...), m.err
}

// Unmarshal restores the state that Marshal saved, or returns ErrFormat.
func Unmarshal(data []byte, into Rememberer) error {
	version, n := binary.Uvarint(data)
	if n <= 0 || version != Version || len(data) < n+8 {
		return ErrFormat
	}
	m := &Codec{data: data[n+8:], decoding: true}
	if err := m.read(into, binary.LittleEndian.Uint64(data[n:])); err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return nil
}

func (m *Codec) read(into Rememberer, sum uint64) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("memory: %v", r)
		}
	}()
	if into != nil {
		into.Remember(m)
	}
	if m.err == nil && (m.left() > 0 || m.sum != sum) {
		m.Fail("%d bytes are left, or other fields were written", m.left())
	}
	return m.err
}

const (
	kindBool = iota + 1
	kindInt
	kindFloat
	kindString
	kindTime
	kindList
	kindShared
)

// Fields writes or reads fields, given as pointers: to booleans, numbers, strings, times, durations, slices of
// numbers, or Rememberers. Convert named types: (*string)(&c.GPUType).
func (m *Codec) Fields(all ...any) {
	for _, field := range all {
		m.field(field)
	}
}

func (m *Codec) field(field any) {
	switch p := field.(type) {
	case *bool:
		m.bool(p)
	case *int:
		number(m, p)
	case *int32:
		number(m, p)
	case *int64:
		number(m, p)
	case *uint8:
		number(m, p)
	case *uint32:
		number(m, p)
	case *uint64:
		number(m, p)
	case *time.Duration:
		number(m, p)
	case *float32:
		m.float32(p)
	case *float64:
		m.float64(p)
	case *string:
		m.string(p)
	case *time.Time:
		m.time(p)
	case *[]float64:
		m.floats(p)
	case Rememberer:
		p.Remember(m)
	default:
		m.list(field)
	}
}

func (m *Codec) list(field any) {
	switch p := field.(type) {
	case *[]int:
		Slice(m, p, func(v *int, m *Codec) { number(m, v) })
	case *[]int32:
		Slice(m, p, func(v *int32, m *Codec) { number(m, v) })
	case *[]uint32:
		Slice(m, p, func(v *uint32, m *Codec) { number(m, v) })
	case *[]uint64:
		Slice(m, p, func(v *uint64, m *Codec) { number(m, v) })
	case *[]uint8:
		Slice(m, p, func(v *uint8, m *Codec) { number(m, v) })
	case *[]bool:
		Slice(m, p, func(v *bool, m *Codec) { m.bool(v) })
	case *[]time.Duration:
		Slice(m, p, func(v *time.Duration, m *Codec) { number(m, v) })
	default:
		m.Fail("a field of type %T", field)
	}
}

func (m *Codec) is(kind uint64) { m.sum = (m.sum ^ kind) * 0x100000001b3 } // FNV-1a

func number[T int | int32 | int64 | uint8 | uint32 | uint64 | time.Duration](m *Codec, p *T) {
	m.is(kindInt)
	if m.decoding {
		n := m.get()
		*p = T(int64(n>>1) ^ -int64(n&1))
		return
	}
	n := int64(*p)
	m.put(uint64(n<<1) ^ uint64(n>>63))
}

// Int writes n and returns it, or reads a number and returns that.
func (m *Codec) Int(n int) int {
	if !m.decoding {
		number(m, &n)
		return n
	}
	var read int
	number(m, &read)
	return read
}

func (m *Codec) put(n uint64) { m.data = binary.AppendUvarint(m.data, n) }

func (m *Codec) left() int { return len(m.data) - m.at }

func (m *Codec) get() uint64 {
	n, size := binary.Uvarint(m.data[m.at:])
	if size <= 0 || m.err != nil {
		m.Fail("the bytes end, or are no number")
		m.data, m.at = nil, 0
		return 0
	}
	m.at += size
	return n
}

func (m *Codec) take(n uint64) []byte {
	if m.err != nil || n > uint64(m.left()) {
		m.Fail("%d bytes are left, want %d", m.left(), n)
		return nil
	}
	m.at += int(n)
	return m.data[m.at-int(n) : m.at]
}

func (m *Codec) bool(p *bool) {
	m.is(kindBool)
	switch {
	case m.decoding:
		*p = m.get() != 0
	case *p:
		m.put(1)
	default:
		m.put(0)
	}
}

func (m *Codec) float32(p *float32) {
	m.is(kindFloat)
	if !m.decoding {
		m.put(uint64(math.Float32bits(*p)))
		return
	}
	*p = math.Float32frombits(uint32(m.get()))
}

func (m *Codec) float64(p *float64) {
	m.is(kindFloat)
	if !m.decoding {
		m.data = binary.LittleEndian.AppendUint64(m.data, math.Float64bits(*p))
		return
	}
	if b := m.take(8); b != nil {
		*p = math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
}

func (m *Codec) floats(p *[]float64) {
	m.is(kindFloat)
	n, some := m.length(len(*p), *p != nil, 8)
	if m.decoding {
		*p = nil
		if some {
			*p = make([]float64, n)
		}
	}
	for i := range *p {
		m.float64(&(*p)[i])
	}
}

func (m *Codec) string(p *string) {
	m.is(kindString)
	if m.sharing {
		m.shareString(p)
		return
	}
	if m.decoding {
		*p = m.text(m.take(m.get()))
		return
	}
	m.put(uint64(len(*p)))
	m.data = append(m.data, *p...)
}

func (m *Codec) shareString(p *string) {
	if m.decoding {
		n := m.get()
		if *p = ""; n >= uint64(len(m.strings)) {
			m.Fail("string %d of %d", n, len(m.strings))
			return
		}
		*p = m.strings[n]
		return
	}
	n, known := m.places[*p]
	if !known {
		n = len(m.strings)
		m.places[*p], m.strings = n, append(m.strings, *p)
	}
	m.put(uint64(n))
}

func (m *Codec) text(b []byte) string {
	if s, known := m.texts[string(b)]; known || len(b) == 0 {
		return s
	}
	if m.texts == nil {
		m.texts = map[string]string{}
	}
	s := string(b)
	m.texts[s] = s
	return s
}

// time writes seconds and nanoseconds. Times are read as UTC.
func (m *Codec) time(p *time.Time) {
	m.is(kindTime)
	if m.decoding {
		sec := m.get()
		*p = time.Unix(int64(sec>>1)^-int64(sec&1), int64(m.get())).UTC()
		return
	}
	sec := p.Unix()
	m.put(uint64(sec<<1) ^ uint64(sec>>63))
	m.put(uint64(p.Nanosecond()))
}

// length writes or reads a length; some is false for nil. Each element takes at least least bytes.
func (m *Codec) length(n int, some bool, least uint64) (int, bool) {
	m.is(kindList)
	if !m.decoding {
		if !some {
			m.put(0)
			return 0, false
		}
		m.put(uint64(n) + 1)
		return n, true
	}
	length := m.get()
	if length > uint64(m.left())/least+1 {
		m.Fail("%d elements in %d bytes", length-1, m.left())
		return 0, false
	}
	return max(0, int(length)-1), length > 0
}
