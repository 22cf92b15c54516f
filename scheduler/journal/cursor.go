package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"time"
	"unicode/utf8"
)

// A cursor reads JSON from one line. After the first error, which stays in err, its methods return zero values
// and its loops end.
type cursor struct {
	buf  []byte
	pos  int
	err  error
	seen map[string]string
}

const maxSeen = 1 << 20

func (c *cursor) fail(want string) {
	if c.err != nil {
		return
	}
	got := "end of line"
	if c.pos < len(c.buf) {
		got = strconv.Quote(string(c.buf[c.pos:min(c.pos+20, len(c.buf))]))
	}
	c.err = fmt.Errorf("column %d: got %s, want %s", c.pos+1, got, want)
}

func (c *cursor) peek() byte {
	for c.pos < len(c.buf) {
		switch b := c.buf[c.pos]; b {
		case ' ', '\t', '\r':
			c.pos++
		default:
			return b
		}
	}
	return 0
}

func (c *cursor) take(b byte) bool {
	if c.err != nil || c.peek() != b {
		return false
	}
	c.pos++
	return true
}

func (c *cursor) want(b byte) {
	if !c.take(b) {
		c.fail(strconv.Quote(string(b)))
	}
}

func (c *cursor) end() {
	if c.peek(); c.err == nil && c.pos < len(c.buf) {
		c.fail("end of record")
	}
}

func (c *cursor) keys() iter.Seq[string] {
	return func(yield func(string) bool) {
		c.want('{')
		for first := true; c.err == nil && !c.take('}'); first = false {
			if !first {
				c.want(',')
			}
			key := c.str()
			c.want(':')
			if c.err != nil || !yield(key) {
				return
			}
		}
	}
}

func (c *cursor) items() iter.Seq[int] {
	return func(yield func(int) bool) {
		c.want('[')
		for i := 0; c.err == nil && !c.take(']'); i++ {
			if i > 0 {
				c.want(',')
			}
			if c.err != nil || !yield(i) {
				return
			}
		}
	}
}

func (c *cursor) str() string {
	c.want('"')
	start := c.pos
	for c.err == nil {
		if c.pos == len(c.buf) {
			c.fail("closing quote")
			break
		}
		switch b := c.buf[c.pos]; {
		case b == '"':
			c.pos++
			return c.keep(c.buf[start : c.pos-1])
		case b == '\\' || b >= utf8.RuneSelf || b < ' ':
			return c.escaped(start - 1)
		}
		c.pos++
	}
	return ""
}

func (c *cursor) escaped(start int) string {
	c.pos = start
	text := c.value()
	var s string
	if c.err == nil && (!utf8.Valid(text) || json.Unmarshal(text, &s) != nil) {
		c.pos = start
		c.fail("a string")
	}
	return c.keep([]byte(s))
}

func (c *cursor) keep(text []byte) string {
	if s, ok := c.seen[string(text)]; ok {
		return s
	}
	if c.seen == nil || len(c.seen) >= maxSeen {
		c.seen = map[string]string{}
	}
	s := string(text)
	c.seen[s] = s
	return s
}

func (c *cursor) number() string {
	c.peek()
	start := c.pos
	for c.pos < len(c.buf) && bytes.IndexByte([]byte("+-.0123456789eE"), c.buf[c.pos]) >= 0 {
		c.pos++
	}
	if start == c.pos {
		c.fail("a number")
	}
	return string(c.buf[start:c.pos])
}

func (c *cursor) float() float64 {
	start := c.pos
	text := c.number()
	if c.err != nil {
		return 0
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		c.pos = start
		c.fail("a finite number")
	}
	return x
}

func (c *cursor) count(most int64) int64 {
	start := c.pos
	text := c.number()
	if c.err != nil {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 || n > most {
		c.pos = start
		c.fail(fmt.Sprintf("a whole number from 0 to %d", most))
		return 0
	}
	return n
}

func (c *cursor) seconds() time.Duration {
	start := c.pos
	text := c.number()
	if c.err != nil {
		return 0
	}
	d, err := parseSeconds(text)
	if err != nil {
		c.pos = start
		c.fail("seconds with at most nine decimals")
	}
	return d
}

func (c *cursor) value() []byte {
	c.peek()
	start, depth, quoted := c.pos, 0, false
	for ; c.err == nil && c.pos < len(c.buf); c.pos++ {
		switch b := c.buf[c.pos]; {
		case quoted && b == '\\':
			c.pos++
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			depth++
		case b == '}' || b == ']':
			depth--
		}
		if depth == 0 && !quoted && c.pos < len(c.buf) {
			c.pos++
			return c.buf[start:c.pos]
		}
	}
	c.pos = min(c.pos, len(c.buf))
	c.fail("closing bracket or quote")
	return nil
}

func (c *cursor) name(key string) {
	c.peek()
	start := c.pos
	if c.str() != key && c.err == nil {
		c.pos = start
		c.fail(fmt.Sprintf("%q", key))
	}
	c.want(':')
}

func (c *cursor) unknown(key string) {
	if c.err == nil {
		c.err = fmt.Errorf("column %d: unknown key %.40q", c.pos+1, key)
	}
}

func (c *cursor) bool() bool {
	start := c.pos
	word := string(c.word())
	if word != "true" && word != "false" && c.err == nil {
		c.pos = start
		c.fail("true or false")
	}
	return word == "true"
}

func (c *cursor) yes() bool {
	start := c.pos
	if string(c.word()) != "true" && c.err == nil {
		c.pos = start
		c.fail("true")
	}
	return c.err == nil
}

func (c *cursor) word() []byte {
	c.peek()
	start := c.pos
	for c.pos < len(c.buf) && c.buf[c.pos] >= 'a' && c.buf[c.pos] <= 'z' {
		c.pos++
	}
	return c.buf[start:c.pos]
}
