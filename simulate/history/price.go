package history

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Price is the cost of a GPU-hour in a currency, with its source.
type Price struct {
	perHour          float64
	currency, source string
}

// ParsePrice parses a price of a GPU-hour such as "2.50 EUR". source is printed next to every sum of money. If both are
// empty, there is no price.
func ParsePrice(price, source string) (Price, error) {
	switch {
	case price == "" && source == "":
		return Price{}, nil
	case price == "" || strings.TrimSpace(source) == "":
		return Price{}, fmt.Errorf("--gpu-price %q and --price-source %q, want both or none: a sum without a source is not shown", price, source)
	}
	text := strings.TrimSpace(price)
	currency := strings.TrimLeft(text, "0123456789.")
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, currency), 64)
	p := Price{perHour: v, currency: strings.TrimSpace(currency), source: source}
	if err != nil || !(v > 0) || math.IsInf(v, 0) || p.currency == "" {
		return Price{}, fmt.Errorf("--gpu-price %q, want an amount above 0 and a currency, as in \"2.50 EUR\"", price)
	}
	return p, nil
}

func (p *Price) known() bool { return p.perHour > 0 }

func (p *Price) perYear(gpus int) float64 { return float64(gpus) * p.perHour * 24 * 365 }
