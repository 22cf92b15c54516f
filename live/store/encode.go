package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/oxgang/oxgang/internal/strict"
	"github.com/oxgang/oxgang/model/job"
)

// encode fails for numbers that are not finite and for years without four digits.
func encode(v any) (string, error) {
	body, err := json.Marshal(v)
	return string(body), err
}

func decode(body string, v any) error { return strict.Decode([]byte(body), v) }

// encodeSpec fails if decoding would change the spec, as for text that is not UTF-8.
func encodeSpec(s *job.Spec) (string, error) {
	body, err := encode(s)
	if err != nil {
		return "", fmt.Errorf("spec: %w", err)
	}
	var back job.Spec
	if err := decode(body, &back); err != nil {
		return "", fmt.Errorf("spec: %w", err)
	}
	if !reflect.DeepEqual(&back, s) {
		return "", errors.New("spec: its text is not all UTF-8")
	}
	return body, nil
}

func encodeStatus(s job.Status) (string, error) {
	for _, t := range []*time.Time{&s.Submitted, &s.FirstStarted, &s.Finished, &s.Since, &s.Reported} {
		*t = t.UTC()
	}
	body, err := encode(&s)
	if err != nil {
		return "", fmt.Errorf("status: %w", err)
	}
	return body, nil
}

// Its fixed width makes text order equal to time order.
const (
	stamp  = "2006-01-02T15:04:05.000000000Z"
	noTime = "0001-01-01T00:00:00.000000000Z"
)

func encodeTime(t time.Time) (string, error) {
	t = t.UTC()
	if year := t.Year(); year < 0 || year > 9999 {
		return "", fmt.Errorf("year %d, want 0 to 9999", year)
	}
	return t.Format(stamp), nil
}

func decodeTime(s string) (time.Time, error) { return time.Parse(stamp, s) }

func encodeStrings(list []string) ([]byte, error) {
	blob := []byte{}
	for i, s := range list {
		if strings.Contains(s, "\x00") {
			return nil, fmt.Errorf("string %d has a zero byte", i+1)
		}
		blob = append(append(blob, s...), 0)
	}
	return blob, nil
}

func decodeStrings(blob []byte) ([]string, error) {
	if len(blob) == 0 {
		return nil, nil
	}
	body, ok := bytes.CutSuffix(blob, []byte{0})
	if !ok {
		return nil, errors.New("no zero byte at the end")
	}
	return strings.Split(string(body), "\x00"), nil
}
