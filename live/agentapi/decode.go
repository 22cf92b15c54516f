package agentapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/oxgang/oxgang/internal/strict"
)

func decode(body []byte, of *shape, m message) error {
	if !utf8.Valid(body) {
		return fmt.Errorf("%w: body is not UTF-8", ErrInvalid)
	}
	s := scanner{json.NewDecoder(bytes.NewReader(body))}
	s.UseNumber()
	if err := s.value("", of); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if _, err := s.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: offset %d: more after the message, want one JSON object", ErrInvalid, s.InputOffset())
	}
	if err := strict.Decode(body, m); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return m.Check()
}

// A scanner recurses only as deep as the shape, so deeper JSON is refused.
type scanner struct{ *json.Decoder }

func (s scanner) value(name string, of *shape) error {
	token, err := s.Token()
	if err != nil {
		return s.broken(err)
	}
	switch v := token.(type) {
	case nil:
		if of.nullable {
			return nil
		}
	case json.Delim:
		return s.nested(name, of, v)
	case json.Number:
		return number(name, of, v)
	case string:
		if of.json == text {
			return nil
		}
	case bool:
		if of.json == yesNo {
			return nil
		}
	}
	return unlike(name, of, token)
}

func (s scanner) nested(name string, of *shape, open json.Delim) error {
	switch {
	case open == '{' && of.json == object:
		return s.object(name, of)
	case open == '[' && of.json == list:
		for i := 0; s.More(); i++ {
			if err := s.value(name+"["+strconv.Itoa(i)+"]", of.element); err != nil {
				return err
			}
		}
		_, err := s.Token()
		return s.broken(err)
	}
	return unlike(name, of, open)
}

func (s scanner) object(name string, of *shape) error {
	seen := make(map[string]bool, len(of.keys))
	for s.More() {
		token, err := s.Token()
		if err != nil {
			return s.broken(err)
		}
		key, isKey := token.(string)
		child := of.fields[key]
		switch {
		case !isKey || child == nil:
			return fmt.Errorf("%sunknown key %s, want one of %q", under(name), quote(fmt.Sprint(token)), of.keys)
		case seen[key]:
			return fmt.Errorf("%skey %q twice, want it once", under(name), key)
		}
		seen[key] = true
		if err := s.value(under(name)+key, child); err != nil {
			return err
		}
	}
	if _, err := s.Token(); err != nil {
		return s.broken(err)
	}
	for _, key := range of.keys {
		if of.fields[key].required && !seen[key] {
			return fmt.Errorf("%skey %q is missing", under(name), key)
		}
	}
	return nil
}

func (s scanner) broken(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("offset %d: %w", s.InputOffset(), err)
}

func number(name string, of *shape, n json.Number) error {
	var err error
	switch of.json {
	case whole:
		_, err = strconv.ParseInt(n.String(), 10, 64)
	case float:
		_, err = strconv.ParseFloat(n.String(), 64)
	default:
		return unlike(name, of, n)
	}
	if err != nil {
		return fmt.Errorf("%s %s, want %s of 64 bits", name, shorten(n.String()), of.json)
	}
	return nil
}

func unlike(name string, of *shape, token json.Token) error {
	got := "null"
	switch v := token.(type) {
	case json.Delim:
		got = map[json.Delim]string{'{': "an object", '[': "a list"}[v]
	case string:
		got = quote(v)
	case json.Number:
		got = shorten(v.String())
	case bool:
		got = strconv.FormatBool(v)
	}
	if name == "" {
		name = "message"
	}
	return fmt.Errorf("%s %s, want %s", name, got, of.json)
}

func under(name string) string {
	if name == "" {
		return ""
	}
	return name + ": "
}
