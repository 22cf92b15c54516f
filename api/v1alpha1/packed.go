package v1alpha1

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
)

// mostUnpacked is the largest list that Unpack returns, in bytes of JSON: 20,000 jobs have a fifth of it.
const mostUnpacked = 64 << 20

// Pack returns a list as JSON that is compressed with gzip; nil: the list is empty.
func Pack[T any](items []T) ([]byte, error) {
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

// Unpack returns the list that Pack was given. The error says what is wrong with data.
func Unpack[T any](data []byte) ([]T, error) {
	if len(data) == 0 {
		return nil, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("a packed list: %w", err)
	}
	var all []T
	if err := json.NewDecoder(io.LimitReader(z, mostUnpacked)).Decode(&all); err != nil {
		return nil, fmt.Errorf("a packed list: %w", err)
	}
	return all, nil
}

// Unpack moves the packed jobs of a plan to its other jobs: allocations and states. It changes
// nothing if it returns an error.
func (p *Plan) Unpack() error {
	rest, err := Unpack[JobAllocation](p.Spec.Packed)
	if err != nil {
		return fmt.Errorf("plan %s: spec: %w", p.Name, err)
	}
	states, err := Unpack[JobState](p.Status.Packed)
	if err != nil {
		return fmt.Errorf("plan %s: status: %w", p.Name, err)
	}
	p.Spec.Allocations, p.Spec.Packed = append(p.Spec.Allocations, rest...), nil
	p.Status.Jobs, p.Status.Packed = append(p.Status.Jobs, states...), nil
	return nil
}
