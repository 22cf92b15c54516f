package wire

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
)

// mostUnpacked is the largest list to unpack, in bytes of JSON: five times a list of 20,000 jobs.
const mostUnpacked = 64 << 20

// PackList returns a list as gzipped JSON, or nil for an empty list.
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

// UnpackList reverses PackList.
func UnpackList[T any](data []byte) ([]T, error) {
	if len(data) == 0 {
		return nil, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("packed list: %w", err)
	}
	var all []T
	if err := json.NewDecoder(io.LimitReader(z, mostUnpacked)).Decode(&all); err != nil {
		return nil, fmt.Errorf("packed list: %w", err)
	}
	return all, nil
}
