package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
)

const (
	oldestParser = 37
	newestParser = 45
)

type meta struct {
	Plugin  parserName `json:"plugin"`
	Plugins parserName `json:"plugins"` // in v0.0.39
}

type parserName struct {
	Type       string `json:"type"`        // such as openapi/v0.0.38
	DataParser string `json:"data_parser"` // such as data_parser/v0.0.40
}

var parserVersion = regexp.MustCompile(`v0\.0\.([0-9]{1,4})$`)

func (m *meta) check() error {
	name := m.Plugin.DataParser
	for _, other := range []string{m.Plugins.DataParser, m.Plugin.Type} {
		if name == "" {
			name = other
		}
	}
	if found := parserVersion.FindStringSubmatch(name); found != nil {
		if n, err := strconv.Atoi(found[1]); err == nil && n >= oldestParser && n <= newestParser {
			return nil
		}
	}
	return fmt.Errorf("%w: data parser %q, want v0.0.%d to v0.0.%d", ErrVersion, name, oldestParser, newestParser)
}

type document[T any] struct {
	Meta   meta `json:"meta"`
	Errors []struct {
		Error       string `json:"error"`
		Description string `json:"description"`
	} `json:"errors"`
	Jobs  *[]T `json:"jobs"`
	Nodes *[]T `json:"nodes"`
}

var errComplaint = errors.New("a complaint of Slurm")

func decode[T any](text []byte, list func(*document[T]) *[]T) ([]T, error) {
	var d document[T]
	err := json.Unmarshal(text, &d)
	if _, typed := errors.AsType[*json.UnmarshalTypeError](err); err == nil || typed { // perhaps another version
		if err := d.Meta.check(); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, malformed(err)
	}
	for _, e := range d.Errors {
		return nil, fmt.Errorf("%w: %w: %s: %s", ErrMalformed, errComplaint, e.Error, e.Description)
	}
	all := list(&d)
	if all == nil {
		return nil, fmt.Errorf("%w: JSON without the list that was asked for", ErrMalformed)
	}
	return *all, nil
}

func malformed(err error) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		if syntax.Error() == "unexpected end of JSON input" {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("%w: byte %d: %w", ErrMalformed, syntax.Offset, err)
	}
	return fmt.Errorf("%w: %w", ErrMalformed, err)
}
