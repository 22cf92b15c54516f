package budget

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/oxgang/oxgang/model/cluster"
)

// A PriceList is the list of nodes that a provider rents, with their prices.
type PriceList struct {
	Name     string
	Currency string  // empty: budgets are in GPUs
	Offers   []Offer // at least one
}

// An Offer is one kind of node at one price.
type Offer struct {
	Name  string          `yaml:"name"`
	Type  cluster.GPUType `yaml:"type"`
	GPUs  int             `yaml:"-"`     // per node
	Price float64         `yaml:"price"` // per GPU-hour
	Most  int             `yaml:"-"`     // maximum number of nodes at a time; default mostGPUs
	// Interruptions is how often per hour the provider reclaims a node.
	Interruptions float64 `yaml:"interruptions"`
	// Kind is on-demand, reserved or spot, for display; Interruptions define spot.
	Kind string `yaml:"kind"`
}

const (
	mostGPUs   = 1_000_000
	mostOnOne  = 1024 // GPUs per node
	leastPrice = 1e-6 // per GPU-hour
	mostPrice  = 1e9
	mostBroken = 1000    // per hour, as in config
	mostBytes  = 1 << 20 // of a price list
)

var kinds = []string{"on-demand", "reserved", "spot"}

type priceFile struct {
	Name     string  `yaml:"name"`
	Currency *string `yaml:"currency"`
	Offers   []row   `yaml:"offers"`
}

// A row has counts as floats: YAML would truncate fractions.
type row struct {
	Offer `yaml:",inline"`
	GPUs  float64 `yaml:"gpus"`
	Most  float64 `yaml:"most"`
}

// ReadPriceList reads a YAML file with name, currency (default $) and offers, which have the keys of Offer.
func ReadPriceList(r io.Reader, file string) (*PriceList, error) {
	text, err := io.ReadAll(io.LimitReader(r, mostBytes+1))
	if err != nil {
		return nil, fmt.Errorf("price list %s: %w", file, err)
	}
	if len(text) > mostBytes {
		return nil, fmt.Errorf("price list %s: more than %d bytes, want fewer", file, mostBytes)
	}
	var read priceFile
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&read); err != nil {
		return nil, blame(err, file)
	}
	var more yaml.Node
	if err := d.Decode(&more); err == nil {
		return nil, fmt.Errorf("%s:%d: a second document, want one price list per file", file, more.Line)
	} else if !errors.Is(err, io.EOF) {
		return nil, blame(err, file)
	}
	l := &PriceList{Name: cmp.Or(read.Name, file), Currency: "$"}
	if read.Currency != nil && *read.Currency != "" {
		l.Currency = *read.Currency
	}
	return l, l.addOffers(read.Offers, file, offerLines(text))
}

var yamlKinds = map[string]string{
	"float64": "a number", "[]budget.row": "a list of offers", "budget.row": "an offer: name, type, gpus, price",
	"budget.priceFile": "name, currency and offers",
}

func blame(err error, file string) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("price list %s: it is empty, want name, currency and offers", file)
	}
	var types *yaml.TypeError
	if !errors.As(err, &types) {
		return fmt.Errorf("price list %s: %w", file, err)
	}
	var errs []error
	for _, e := range types.Errors {
		where, what, _ := strings.Cut(strings.TrimPrefix(e, "line "), ": ")
		if key, unknown := strings.CutPrefix(what, "field "); unknown {
			key, _, _ = strings.Cut(key, " not found")
			what = fmt.Sprintf("unknown key %q, want name, currency, offers, or in an offer name, type, gpus, price, most, interruptions, kind", key)
		}
		if got, into, ok := strings.Cut(strings.TrimPrefix(what, "cannot unmarshal "), " into "); ok {
			what = fmt.Sprintf("got %s, want %s", strings.TrimPrefix(got, "!!"), cmp.Or(yamlKinds[into], "text"))
		}
		errs = append(errs, fmt.Errorf("%s:%s: %s", file, where, what))
	}
	return errors.Join(errs...)
}

func offerLines(text []byte) []int {
	var doc struct {
		Offers []yaml.Node `yaml:"offers"`
	}
	_ = yaml.Unmarshal(text, &doc) // parsed before
	lines := make([]int, len(doc.Offers))
	for i := range lines {
		lines[i] = doc.Offers[i].Line
	}
	return lines
}

func (l *PriceList) addOffers(rows []row, file string, lines []int) error {
	if len(rows) == 0 {
		return fmt.Errorf("price list %s: no offers, want at least one", file)
	}
	var errs []error
	for i := range rows {
		r := &rows[i]
		for _, err := range r.complaints() {
			errs = append(errs, fmt.Errorf("%s:%d: offer %q: %w", file, lines[i], r.Name, err))
		}
		if first := slices.IndexFunc(l.Offers, func(b Offer) bool { return b.Name == r.Name }); first >= 0 {
			errs = append(errs, fmt.Errorf("%s:%d: offer %q has the same name as line %d", file, lines[i], r.Name, lines[first]))
		}
		o := r.Offer
		o.GPUs, o.Most, o.Kind = int(r.GPUs), int(r.Most), cmp.Or(o.Kind, kinds[0])
		if o.Most == 0 {
			o.Most = mostGPUs / max(1, o.GPUs)
		}
		l.Offers = append(l.Offers, o)
	}
	return errors.Join(errs...)
}

func (o *row) complaints() []error {
	var errs []error
	no := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	no(o.Name == "", "no name, want one")
	no(!validName(string(o.Type)), "type %q, want a GPU type such as t4", o.Type)
	no(!whole(o.GPUs, 1, mostOnOne), "%g gpus per node, want 1 to %d", o.GPUs, mostOnOne)
	no(!(o.Price >= leastPrice && o.Price <= mostPrice), "price %g per GPU-hour, want %g to %g", o.Price, leastPrice, mostPrice)
	no(!whole(o.Most, 0, mostGPUs), "most %g nodes, want 1 to %d, or 0 for no limit", o.Most, mostGPUs)
	no(!(o.Interruptions >= 0 && o.Interruptions <= mostBroken), "%g interruptions per hour, want 0 to %d", o.Interruptions, mostBroken)
	no(o.Kind != "" && !slices.Contains(kinds, o.Kind), "kind %q, want one of %s", o.Kind, strings.Join(kinds, ", "))
	return errs
}

func whole(v, least, most float64) bool { return v >= least && v <= most && v == math.Trunc(v) }

func validName(name string) bool {
	return name != "" && strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}

// Unpriced parses kinds of nodes without prices, "t4:4,a100:8" (GPU type and GPUs per node). Budgets are then numbers
// of GPUs.
func Unpriced(text string) (*PriceList, error) {
	l := &PriceList{Name: "GPUs"}
	for part := range strings.SplitSeq(text, ",") {
		var gpus int
		name, count, _ := strings.Cut(strings.TrimSpace(part), ":")
		if _, err := fmt.Sscanf(count+"\n", "%d\n", &gpus); err != nil || !validName(name) || gpus < 1 || gpus > mostOnOne {
			return nil, fmt.Errorf("%q, want GPU types and GPUs per node, such as t4:4,a100:8", text)
		}
		if slices.ContainsFunc(l.Offers, func(o Offer) bool { return o.Name == name }) {
			return nil, fmt.Errorf("%q lists %s twice", text, name)
		}
		l.Offers = append(l.Offers, Offer{Name: name, Type: cluster.GPUType(name), GPUs: gpus, Most: mostGPUs / gpus, Kind: kinds[0]})
	}
	return l, nil
}

func (l *PriceList) offers() []cluster.Offer { return l.Rentable() }

// Rentable converts the offers into nodes for rent.
func (l *PriceList) Rentable() []cluster.Offer {
	offers := make([]cluster.Offer, len(l.Offers))
	for i := range l.Offers {
		o := &l.Offers[i]
		offers[i] = cluster.Offer{Group: cluster.Group(o.Name), Most: o.Most, Node: cluster.Node{
			GPUType: o.Type, Capacity: cluster.Resources{GPUs: o.GPUs}, Group: cluster.Group(o.Name), Tenure: cluster.Rented,
			Price: cluster.Price(o.Price), Interruptions: o.Interruptions,
		}}
	}
	return offers
}

// CheckTogether returns an error if two lists have equal names or different currencies.
func CheckTogether(lists []*PriceList) error {
	for i, l := range lists {
		for _, before := range lists[:i] {
			if l.Name == before.Name {
				return fmt.Errorf("two price lists are named %q, want different names", l.Name)
			}
			if l.Currency != before.Currency {
				return fmt.Errorf("price list %s is in %s and %s in %s, want one currency", l.Name, l.Currency, before.Name, before.Currency)
			}
		}
	}
	return nil
}

// Hours of a day and of a month of 30 days.
const (
	day   = 24.0
	month = 30 * day
)

const mostMoney = 1e15

// ParseAmount parses an amount per hour, day or month, and returns it per hour: "2000/day" is 83.3. Without a unit, the
// amount is per hour.
func ParseAmount(text string) (float64, error) {
	number, per, _ := strings.Cut(text, "/")
	hours, known := map[string]float64{"": 1, "hour": 1, "day": day, "month": month}[per]
	amount, err := strconv.ParseFloat(number, 64)
	if err != nil || !known || strings.HasSuffix(text, "/") || !(amount > 0 && amount < mostMoney) {
		return 0, fmt.Errorf("%q, want an amount above 0 per time, such as 40/hour, 2000/day or 60000/month", text)
	}
	return amount / hours, nil
}

type unit string

func (u unit) per(hour float64) string {
	if u == "" {
		return figure(hour) + " GPUs"
	}
	return string(u) + figure(hour) + " an hour"
}

func (u unit) long(hour float64) string { return u.times(hour, figure) }

// atLeast is long rounded up, so that the budget is enough.
func (u unit) atLeast(hour float64) string { return u.times(hour, figureUp) }

func (u unit) times(hour float64, figure func(float64) string) string {
	if u == "" {
		return fmt.Sprintf("%s GPUs on average: %s GPU-hours a day, %s a month", figure(hour), figure(hour*day), figure(hour*month))
	}
	return fmt.Sprintf("%[1]s%[2]s an hour, %[1]s%[3]s a day, %[1]s%[4]s a month", string(u), figure(hour), figure(hour*day), figure(hour*month))
}

const large = 10_000

func figureUp(x float64) string {
	if x >= large {
		return figure(math.Ceil(x))
	}
	return figure(math.Ceil(100*x) / 100)
}

func figure(x float64) string {
	decimals := 2
	if math.Abs(x) >= large {
		decimals = 0
	}
	digits, fraction, _ := strings.Cut(strconv.FormatFloat(x, 'f', decimals, 64), ".")
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if fraction == "" {
		return digits
	}
	return digits + "." + fraction
}

// year, in seconds, is the longest time that is not printed in days.
const year = 365 * day * 3600

func formatSeconds(seconds float64) string {
	if math.Abs(seconds) >= year {
		return figure(seconds/(day*3600)) + " days"
	}
	if math.Abs(seconds) < 60 {
		return strconv.FormatFloat(seconds, 'g', 3, 64) + "s"
	}
	return time.Duration(seconds * float64(time.Second)).Round(time.Second).String()
}
