package budget

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/model/cluster"
)

func TestReadPriceList(t *testing.T) {
	got, err := ReadPriceList(strings.NewReader(`
name: spot in May
currency: €
offers:
  - {name: a, type: t4, gpus: 4, price: 0.5}
  - {name: b, type: t4, gpus: 8, price: 0.2, interruptions: 0.1, kind: spot, most: 3}
`), "f")
	want := &PriceList{Name: "spot in May", Currency: "€", Offers: []Offer{
		{Name: "a", Type: "t4", GPUs: 4, Price: 0.5, Most: 250_000, Kind: "on-demand"},
		{Name: "b", Type: "t4", GPUs: 8, Price: 0.2, Most: 3, Interruptions: 0.1, Kind: "spot"},
	}}
	if err != nil || !cmp.Equal(got, want) {
		t.Fatalf("error %v, got less want:\n%s", err, cmp.Diff(want, got))
	}
	o := got.offers()[1]
	if o.GPUPrice() != 0.2 || o.Most != 3 || o.Node.Interruptions != 0.1 || o.Node.Capacity.GPUs != 8 || o.Node.Tenure != cluster.Rented {
		t.Errorf("as an offer of nodes it is %+v", o)
	}
}

// The examples of the guide are price lists, of names and prices of their own.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testdata.Root(t), "docs/guide/prices/*.yaml"))
	if err != nil || len(files) != 3 {
		t.Fatalf("got %q, %v; want three examples", files, err)
	}
	var lists []*PriceList
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		l, err := ReadPriceList(f, name)
		if err != nil {
			t.Fatal(err)
		}
		lists = append(lists, l)
	}
	if err := CheckTogether(lists); err != nil {
		t.Error(err)
	}
}

func TestPriceListErrors(t *testing.T) {
	const offers = "offers:\n  - {name: a, type: t4, gpus: 4, price: 1}\n  - "
	for text, want := range map[string]string{
		"":                            "price list f: it is empty",
		"name: x":                     "price list f: no offers, want at least one",
		"colour: red\noffers: []":     `f:1: unknown key "colour", want name, currency, offers`,
		"offers:\n  - {color: red}":   `f:2: unknown key "color"`,
		"offers:\n  - {price: cheap}": "f:2: got str `cheap`, want a number",
		"offers: {}":                  "f:1: got map, want a list of offers",
		"[]":                          "f:1: got seq, want name, currency and offers",
		"name: x\nname: y":            `f:2: mapping key "name" already defined at line 1`,
		"name: x\n\toffers: []":       "price list f: yaml: line 2",
		"offers: [":                   "price list f: yaml: line 1",
		offers + "{name: b, type: t4, gpus: 4, price: -1}":                     `f:3: offer "b": price -1 per GPU-hour, want 1e-06 to 1e+09`,
		offers + "{name: b, type: t4, gpus: 4}":                                `f:3: offer "b": price 0 per GPU-hour, want 1e-06 to 1e+09`,
		offers + "{name: b, type: t4, gpus: 4, price: .nan}":                   `f:3: offer "b": price NaN`,
		offers + "{name: b, type: t4, gpus: 4, price: .inf}":                   `f:3: offer "b": price +Inf`,
		offers + "{name: b, type: t4, gpus: 4, price: 1e20}":                   `f:3: offer "b": price 1e+20`,
		offers + "{name: b, type: t4, gpus: 4, price: 1, most: 1e18}":          `f:3: offer "b": most 1e+18 nodes, want 1 to 1000000, or 0 for no limit`,
		offers + "{name: b, type: t4, gpus: 4, price: 1, price: 2}":            `f:3: mapping key "price" already defined`,
		offers + "{name: b, type: t4, gpus: 4, price: 1}\n---\nname: x":        "f:4: a second document, want one price list per file",
		offers + "{name: b, type: t4, gpus: 4, price: 1}\n---\n: [":            "price list f: yaml: line",
		strings.Repeat("#\n", 1<<19) + "\n":                                    "price list f: more than 1048576 bytes",
		offers + "{name: b, type: t4, gpus: 4.5, price: 1}":                    `f:3: offer "b": 4.5 gpus per node, want 1 to 1024`,
		offers + "{name: b, type: t4, gpus: 4, price: 1, most: 2.5}":           `f:3: offer "b": most 2.5 nodes, want 1 to 1000000, or 0 for no limit`,
		offers + "{name: b, type: t4, price: 1}":                               `f:3: offer "b": 0 gpus per node, want 1 to 1024`,
		offers + "{name: b, gpus: 1, price: 1}":                                `f:3: offer "b": type "", want a GPU type such as t4`,
		offers + "{name: b, type: 'a:1', gpus: 1, price: 1}":                   `f:3: offer "b": type "a:1"`,
		offers + "{name: b, type: t4, gpus: 1, price: 1, most: -1}":            `f:3: offer "b": most -1 nodes`,
		offers + "{name: b, type: t4, gpus: 1, price: 1, interruptions: -0.1}": `f:3: offer "b": -0.1 interruptions per hour, want 0 to 1000`,
		offers + "{name: b, type: t4, gpus: 1, price: 1, kind: sport}":         `f:3: offer "b": kind "sport", want one of on-demand, reserved, spot`,
		offers + "{type: t4, gpus: 1, price: 1}":                               `f:3: offer "": no name, want one`,
		offers + "{name: a, type: t4, gpus: 1, price: 1}":                      `f:3: offer "a" has the same name as line 2`,
	} {
		if _, err := ReadPriceList(strings.NewReader(text), "f"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestCheckTogether(t *testing.T) {
	a, b := &PriceList{Name: "a", Currency: "$"}, &PriceList{Name: "b", Currency: "€"}
	if err := CheckTogether([]*PriceList{a, a}); err == nil || !strings.Contains(err.Error(), `two price lists are named "a"`) {
		t.Errorf("equal names: got %v", err)
	}
	if err := CheckTogether([]*PriceList{a, b}); err == nil || !strings.Contains(err.Error(), "want one currency") {
		t.Errorf("two currencies: got %v", err)
	}
}

func TestUnpriced(t *testing.T) {
	l, err := Unpriced("t4:4, a100:8")
	if err != nil || len(l.Offers) != 2 || l.Offers[1].Type != "a100" || l.Offers[1].GPUs != 8 || l.Currency != "" {
		t.Errorf("got %+v, %v", l, err)
	}
	for _, text := range []string{"", "t4", "t4:", "t4:0", "t4:4x", "t4:4,t4:8", ":4", "t4:-1", "t4:4,"} {
		if l, err := Unpriced(text); err == nil {
			t.Errorf("%q: got %+v, want an error", text, l)
		}
	}
}

// FuzzReadPriceList: a list that is read can be rented.
func FuzzReadPriceList(f *testing.F) {
	f.Add("name: x\noffers:\n  - {name: a, type: t4, gpus: 4, price: 1}\n")
	f.Add("offers:\n  - &a {name: a, type: t4, gpus: 4, price: 1}\n  - *a\n")
	f.Add("offers: {a: b}\n")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ReadPriceList(strings.NewReader(text), "f")
		if err != nil {
			return
		}
		for _, o := range l.offers() {
			if !(o.GPUPrice() > 0) || o.Most < 1 || o.Node.Capacity.GPUs < 1 || o.Node.GPUType == "" || o.Group == "" {
				t.Errorf("read %+v", o)
			}
		}
	})
}
