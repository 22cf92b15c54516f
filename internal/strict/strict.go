// Package strict decodes JSON that people or other programs write. It refuses what encoding/json accepts and silently
// changes: a key that occurs twice, a key whose case differs from the field's, and half a surrogate pair.
package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Decode reads the only JSON value in text into v, a pointer. Besides the errors of encoding/json, it returns one for
// unknown keys, keys that occur twice, keys whose case differs from the field's, text that is not Unicode, and text after
// the value.
func Decode(text []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	switch err := dec.Decode(v); {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("unfinished JSON: %w", io.ErrUnexpectedEOF)
	case err != nil:
		return err
	}
	if rest := bytes.TrimSpace(text[dec.InputOffset():]); len(rest) > 0 {
		return &AfterError{Offset: int(dec.InputOffset()), Rest: string(rest)}
	}
	return Check(text, v)
}

// An AfterError reports text after the value.
type AfterError struct {
	Offset int // of the first byte that is not part of the value
	Rest   string
}

// Error implements error.
func (e *AfterError) Error() string {
	return fmt.Sprintf("%.40q after the end of the JSON value", e.Rest)
}

// Check returns an error for what encoding/json would lose of text, which is valid JSON for v. If v is nil, any key is known.
func Check(text []byte, v any) error {
	if !utf8.Valid(text) {
		return errors.New("text that is not UTF-8")
	}
	s := scanner{text: text}
	return s.value(reflect.TypeOf(v))
}

// A scanner walks over valid JSON, so it need not check the grammar.
type scanner struct {
	text []byte
	at   int
}

func (s *scanner) next() byte {
	for strings.IndexByte(" \t\r\n,:", s.text[s.at]) >= 0 {
		s.at++
	}
	return s.text[s.at]
}

func (s *scanner) value(t reflect.Type) error {
	t = plain(t)
	switch s.next() {
	case '"':
		_, err := s.string()
		return err
	case '{':
		return s.object(t)
	case '[':
		return s.list(t)
	}
	for s.at < len(s.text) && strings.IndexByte(" \t\r\n,]}", s.text[s.at]) < 0 {
		s.at++
	}
	return nil
}

func (s *scanner) list(t reflect.Type) error {
	element := elementOf(t)
	s.at++
	for s.next() != ']' {
		if err := s.value(element); err != nil {
			return err
		}
	}
	s.at++
	return nil
}

func (s *scanner) object(t reflect.Type) error {
	fields := fieldsOf(t)
	seen := map[string]bool{}
	s.at++
	for s.next() != '}' {
		key, err := s.string()
		if err != nil {
			return err
		}
		of, known := fields[fold(key)]
		if !known {
			of = field{name: key, kind: elementOf(t)}
		}
		switch {
		case seen[of.name]:
			return fmt.Errorf("key %.40q occurs twice", key)
		case of.name != key:
			return fmt.Errorf("unknown key %.40q, want %q", key, of.name)
		}
		seen[of.name] = true
		if err := s.value(of.kind); err != nil {
			return err
		}
	}
	s.at++
	return nil
}

// fold returns the same text for keys that encoding/json takes for the same field: k and the kelvin sign, s and the
// long s, too.
func fold(key string) string { return strings.ToLower(strings.ToUpper(key)) }

func (s *scanner) string() (string, error) {
	from := s.at
	for s.at++; s.text[s.at] != '"'; s.at++ {
		if s.text[s.at] == '\\' {
			s.at++
		}
	}
	s.at++
	raw := s.text[from:s.at]
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), nil
	}
	return unescape(raw)
}

func unescape(raw []byte) (text string, err error) {
	if err := json.Unmarshal(raw, &text); err != nil {
		return "", err
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		if i++; raw[i] != 'u' {
			continue
		}
		unit := hex(raw[i+1 : i+5])
		if i += 4; unit < 0xd800 || unit > 0xdfff {
			continue
		}
		if unit >= 0xdc00 || i+6 >= len(raw) || raw[i+1] != '\\' || raw[i+2] != 'u' || hex(raw[i+3:i+7])>>10 != 0xdc00>>10 {
			return "", fmt.Errorf("half a surrogate pair in %.60s", raw)
		}
		i += 6
	}
	return text, nil
}

func hex(digits []byte) uint64 {
	n, _ := strconv.ParseUint(string(digits), 16, 16) // valid JSON
	return n
}

type field struct {
	name string
	kind reflect.Type
}

// fieldsOf returns the fields of a struct by their folded keys.
func fieldsOf(t reflect.Type) map[string]field {
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	all := map[string]field{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || f.Anonymous && name == "" || !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		all[fold(name)] = field{name, f.Type}
	}
	return all
}

func elementOf(t reflect.Type) reflect.Type {
	if t == nil || t.Kind() != reflect.Slice && t.Kind() != reflect.Array && t.Kind() != reflect.Map {
		return nil
	}
	return t.Elem()
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// plain returns the type behind pointers, or nil for a type that decodes itself.
func plain(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || reflect.PointerTo(t).Implements(unmarshaler) {
		return nil
	}
	return t
}
