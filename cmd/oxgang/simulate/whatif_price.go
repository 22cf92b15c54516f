package simulate

import (
	"math"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
)

// priceFlags say what a GPU-hour costs. Nothing is said of money without a currency and a source.
type priceFlags struct {
	text, source string
	perHour      float64
	currency     string
}

func (p *priceFlags) add(f *pflag.FlagSet) {
	f.StringVar(&p.text, "gpu-price", "", `what a GPU-hour costs, with its currency: "2.50 EUR"`)
	f.StringVar(&p.source, "price-source", "", "where that price is from; it stands beside every sum")
}

// check parses the price.
func (p *priceFlags) check() error {
	switch {
	case p.text == "" && p.source == "":
		return nil
	case p.text == "" || strings.TrimSpace(p.source) == "":
		return cli.Misused("--gpu-price %q and --price-source %q, want both or none: a sum without a source is not shown", p.text, p.source)
	}
	text := strings.TrimSpace(p.text)
	currency := strings.TrimLeft(text, "0123456789.")
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, currency), 64)
	p.perHour, p.currency = v, strings.TrimSpace(currency)
	if err != nil || !(v > 0) || math.IsInf(v, 0) || p.currency == "" {
		return cli.Misused("--gpu-price %q, want an amount above 0 and a currency, as in \"2.50 EUR\"", p.text)
	}
	return nil
}

// known reports whether there is a price.
func (p *priceFlags) known() bool { return p.perHour > 0 }

// perYear returns what so many GPUs cost in a year.
func (p *priceFlags) perYear(gpus int) float64 { return float64(gpus) * p.perHour * 24 * 365 }
