package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

func decode(r io.Reader, v any) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := once(text); err != nil {
		return Refuse("request: %v", err)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return Refuse("request: %v", err)
	}
	return nil
}

func once(text []byte) error {
	if len(bytes.TrimSpace(text)) == 0 {
		return errors.New("empty, want a JSON object")
	}
	if !json.Valid(text) {
		var v any
		return json.Unmarshal(text, &v) // returns the position
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return errors.New("want a JSON object")
	}
	return keys(dec)
}

func keys(dec *json.Decoder) error {
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		// Like encoding/json, treat letters with the same case folding as equal: k and the kelvin sign, s and the
		// long s.
		key := strings.ToLower(strings.ToUpper(name))
		if seen[key] {
			return fmt.Errorf("key %.40q occurs twice", name)
		}
		seen[key] = true
		if err := value(dec); err != nil {
			return err
		}
	}
	_, err := dec.Token()
	return err
}

func value(dec *json.Decoder) error {
	t, err := dec.Token()
	switch {
	case err != nil:
		return err
	case t == json.Delim('{'):
		return keys(dec)
	case t != json.Delim('['):
		return nil
	}
	for dec.More() {
		if err := value(dec); err != nil {
			return err
		}
	}
	_, err = dec.Token()
	return err
}
