package client

import (
	"errors"
	"strings"
)

// A form is how something can be asked for and read: as JSON or as text.
type form[T any] struct {
	json, text       func() ([]byte, error)
	parse, parseText func([]byte) ([]T, error)
}

// inEitherForm asks for JSON, and for text where there is none or it is of a version that is not known.
func inEitherForm[T any](c *Client, f form[T]) ([]T, error) {
	if !c.Text {
		out, err := f.json()
		if err == nil {
			var all []T
			if all, err = f.parse(out); err == nil {
				return all, nil
			}
		}
		if !errors.Is(err, ErrVersion) && !noJSON(err) {
			return nil, err
		}
	}
	out, err := f.text()
	if err != nil {
		return nil, err
	}
	return f.parseText(out)
}

// noJSON reports whether a command complained that it does not know --json, or lacks the plugin for it.
func noJSON(err error) bool {
	failed, ok := errors.AsType[*Error](err)
	if !ok {
		return false
	}
	said := strings.ToLower(failed.Said)
	return strings.Contains(said, "json") || strings.Contains(said, "unrecognized option") ||
		strings.Contains(said, "data_parser") || strings.Contains(said, "serializer")
}
