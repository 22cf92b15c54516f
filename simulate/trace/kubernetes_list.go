package trace

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/oxgang/oxgang/simulate/trace/parse"
)

type kubeLists struct {
	elements
	inside bool
	first  bool
	lists  int
	listed bool // the list has the key items
	kind   string
	api    string
}

// next returns the next object, valid until the next call, and its line; io.EOF at the end. It can continue
// after parse.ErrTooLong.
func (k *kubeLists) next() (text []byte, line int, err error) {
	for {
		for !k.inside {
			if err := k.begin(); err != nil {
				return nil, 0, err
			}
		}
		more, err := k.item()
		if err != nil {
			return nil, 0, err
		}
		if more {
			line = k.line
			text, err = k.object()
			return text, line, err
		}
		k.inside = false
		if err := k.keys(); err != nil {
			return nil, 0, err
		}
	}
}

func (k *kubeLists) item() (bool, error) {
	c, err := k.skip()
	switch {
	case err != nil:
		return false, err
	case c == ']':
		return false, nil
	case k.first:
	case c != ',':
		return false, k.unexpected(c, ", or ]")
	default:
		if c, err = k.skip(); err != nil {
			return false, err
		}
	}
	if c != '{' {
		return false, k.unexpected(c, "{")
	}
	k.first = false
	return true, nil
}

func (k *kubeLists) begin() error {
	c, err := k.skip()
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF): // valid between lists
		if k.lists == 0 {
			return &parse.Error{File: k.o.File, Line: k.line, Problem: "the file ends, want at least one list of objects"}
		}
		return io.EOF
	case err != nil:
		return err
	case c != '{':
		return k.unexpected(c, "{, which begins a list of objects")
	}
	k.opened = true
	k.lists++
	k.kind, k.api, k.listed = "", "", false
	return k.keys()
}

func (k *kubeLists) keys() error {
	for {
		c, err := k.skip()
		if err == nil && c == ',' {
			c, err = k.skip()
		}
		switch {
		case err != nil:
			return err
		case c == '}' && !k.listed && k.kind != "" && !strings.HasSuffix(k.kind, "List"):
			return &parse.Error{File: k.o.File, Line: k.line, Problem: fmt.Sprintf("one object of kind %q, want lists; docs/traces.md has the kubectl command that prints them", k.kind)}
		case c == '}':
			return nil
		case c != '"':
			return k.unexpected(c, "a key or }")
		}
		key, err := k.text64()
		if err != nil {
			return err
		}
		if err := k.colon(); err != nil {
			return err
		}
		if c, err = k.skip(); err != nil {
			return err
		}
		if key == "items" {
			k.listed = true
			return k.items(c)
		}
		if err := k.value(key, c); err != nil {
			return err
		}
	}
}

func (k *kubeLists) fill(o *kubeObject) {
	if kind, ok := strings.CutSuffix(k.kind, "List"); ok && o.Kind == "" {
		o.Kind, o.API = kind, k.api
	}
}

func (k *kubeLists) items(c byte) error {
	if c != '[' {
		return k.unexpected(c, "[, which begins the items")
	}
	k.inside, k.first = true, true
	return nil
}

func (k *kubeLists) value(key string, c byte) error {
	switch c {
	case '"':
		text, err := k.text64()
		switch key {
		case "kind":
			k.kind = text
		case "apiVersion":
			k.api = text
		}
		return err
	case '{':
		if _, err := k.object(); err != nil && !errors.Is(err, parse.ErrTooLong) {
			return err
		}
		return nil
	}
	return k.unexpected(c, `a text or an object: an input of the lists that "kubectl get -o json" prints`)
}

// text64 returns the first 64 bytes of a text whose opening quote was read.
func (k *kubeLists) text64() (string, error) {
	var text []byte
	for escaped := false; ; {
		c, err := k.read()
		switch {
		case err != nil:
			return "", err
		case c == '"' && !escaped:
			return string(text), nil
		case len(text) < 64:
			text = append(text, c)
		}
		escaped = c == '\\' && !escaped
	}
}

func (k *kubeLists) colon() error {
	c, err := k.skip()
	if err == nil && c != ':' {
		err = k.unexpected(c, ":")
	}
	return err
}
