package experiments

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A Band is a published number, and the range in which our number should be.
type band struct {
	Published float64
	Low, High float64 // infinite if unbounded
	text      string
}

// parseBand parses a Band: "0.6 +- 0.1", "8.07 +- 8%", "<= 1.2", ">= 100", a number alone (not checked), or "-" if
// nothing is published.
func parseBand(text string) (band, error) {
	b := band{Low: math.Inf(-1), High: math.Inf(1), text: text}
	fields := strings.Fields(text)
	var err error
	switch {
	case text == "-":
	case len(fields) == 2 && fields[0] == "<=":
		b.Published, err = parseFinite(fields[1])
		b.High = b.Published
	case len(fields) == 2 && fields[0] == ">=":
		b.Published, err = parseFinite(fields[1])
		b.Low = b.Published
	case len(fields) == 3 && fields[1] == "+-":
		var width float64
		if b.Published, err = parseFinite(fields[0]); err == nil {
			width, err = parseWidth(fields[2], b.Published)
		}
		b.Low, b.High = b.Published-width, b.Published+width
	case len(fields) == 1:
		b.Published, err = parseFinite(fields[0])
	default:
		err = fmt.Errorf("%d words", len(fields))
	}
	if err != nil {
		return band{}, fmt.Errorf(`got %q, want "0.6 +- 0.1", "8 +- 8%%", "<= 1.2", ">= 100", a number or "-": %w`, text, err)
	}
	return b, nil
}

func parseWidth(text string, of float64) (float64, error) {
	if percent, ok := strings.CutSuffix(text, "%"); ok {
		w, err := parseFinite(percent)
		return math.Abs(of) * w / 100, err
	}
	return parseFinite(text)
}

func parseFinite(text string) (float64, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err == nil && x-x != 0 {
		err = strconv.ErrRange
	}
	return x, err
}

// Checked reports whether the band has a lower or an upper bound.
func (b band) Checked() bool { return !math.IsInf(b.Low, -1) || !math.IsInf(b.High, 1) }

// Holds reports whether x is within the band.
func (b band) Holds(x float64) bool { return x >= b.Low && x <= b.High }

// String returns the text from which the band was parsed.
func (b band) String() string { return b.text }

// A Figure is a metric with its published number and range.
type Figure struct {
	Metric string
	Band   band
}

// Figures are metrics with their published numbers.
type Figures []Figure

// UnmarshalYAML reads metrics and bands.
func (f *Figures) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("line %d: want a mapping of metrics to bands", n.Line)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name := n.Content[i].Value
		if _, ok := findMetric(name); !ok {
			return fmt.Errorf("line %d: metric %q, want one of %s", n.Content[i].Line, name, strings.Join(metricNames(), ", "))
		}
		b, err := parseBand(n.Content[i+1].Value)
		if err != nil {
			return fmt.Errorf("line %d: %s: %w", n.Content[i].Line, name, err)
		}
		*f = append(*f, Figure{name, b})
	}
	return nil
}
