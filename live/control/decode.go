package control

import (
	"bytes"
	"errors"
	"io"

	"github.com/oxgang/oxgang/internal/strict"
)

func decode(r io.Reader, v any) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	switch text = bytes.TrimSpace(text); {
	case len(text) == 0:
		err = errors.New("empty, want a JSON object")
	case text[0] != '{':
		err = errors.New("want a JSON object")
	default:
		err = strict.Decode(text, v)
	}
	if err != nil {
		return Refuse("request: %v", err)
	}
	return nil
}
