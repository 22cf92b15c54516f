package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Series are the values of metrics, by name and labels.
type Series map[string]float64

// Scrape reads the metrics at an address.
func Scrape(ctx context.Context, address string) (Series, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("metrics: %s, want 200 OK", answer.Status)
	}
	return Read(answer.Body)
}

// Read parses metrics as text.
func Read(text io.Reader) (Series, error) {
	all := Series{}
	lines := bufio.NewScanner(text)
	for lines.Scan() {
		i := strings.LastIndexByte(lines.Text(), ' ')
		if i < 0 || strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		if x, err := strconv.ParseFloat(lines.Text()[i+1:], 64); err == nil {
			all[lines.Text()[:i]] = x
		}
	}
	return all, lines.Err()
}

// Sum returns the sum of all series called name that have all labels, each given as name="value".
func (s Series) Sum(name string, labels ...string) float64 {
	sum := 0.0
	for key, x := range s {
		rest, is := strings.CutPrefix(key, name)
		if !is || rest != "" && rest[0] != '{' {
			continue
		}
		for _, l := range labels {
			is = is && strings.Contains(rest, l)
		}
		if is {
			sum += x
		}
	}
	return sum
}
