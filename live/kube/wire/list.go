package wire

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
)

// mostOpened is the largest list that UnpackList returns, in bytes of JSON: 20,000 jobs have a fifth of it.
const mostOpened = 64 << 20

// PackList returns a list as JSON that is compressed with gzip; nil: the list is empty.
func PackList[T any](items []T) ([]byte, error) {
	if len(items) == 0 {
		return nil, nil
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := json.NewEncoder(z).Encode(items); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// UnpackList returns the list that PackList was given. The error says what is wrong with data.
func UnpackList[T any](data []byte) ([]T, error) {
	if len(data) == 0 {
		return nil, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("a packed list: %w", err)
	}
	var all []T
	if err := json.NewDecoder(io.LimitReader(z, mostOpened)).Decode(&all); err != nil {
		return nil, fmt.Errorf("a packed list: %w", err)
	}
	return all, nil
}
