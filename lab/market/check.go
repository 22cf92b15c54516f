package market

import (
	"errors"
	"fmt"
	"math"
)

// Validate returns all errors.
func (m *Market) Validate() error {
	var errs []error
	for t := range m.Supply {
		for j, c := range m.Supply[t] {
			errs = append(errs, checkNumber(c, "market: supply of round %d, type %d", t, j))
		}
	}
	for i := range m.Buyers {
		errs = append(errs, m.checkBuyer(i))
	}
	if len(m.Buyers) == 0 {
		errs = append(errs, errors.New("market: 0 buyers, want at least 1"))
	}
	return errors.Join(errs...)
}

func (m *Market) checkBuyer(i int) error {
	b := &m.Buyers[i]
	var errs []error
	if !(b.Budget > 0) || math.IsInf(b.Budget, 0) {
		errs = append(errs, fmt.Errorf("market: buyer %d: budget %g, want more than 0 and finite", i, b.Budget))
	}
	if b.Utility > Leontief {
		errs = append(errs, fmt.Errorf("market: buyer %d: utility %d, want Linear or Leontief", i, b.Utility))
	}
	if len(b.Rates) != len(m.Supply) {
		return errors.Join(append(errs, fmt.Errorf("market: buyer %d: %d rounds, want %d", i, len(b.Rates), len(m.Supply)))...)
	}
	for t := range b.Rates {
		errs = append(errs, m.checkRound(i, t))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if !(b.Of(m.Supply) > 0) {
		return fmt.Errorf("market: buyer %d: no supply is useful to it, want one in at least one round", i)
	}
	return nil
}

func (m *Market) checkRound(i, t int) error {
	b := &m.Buyers[i]
	if b.Rates[t] == nil {
		return nil
	}
	if len(b.Rates[t]) != len(m.Supply[t]) {
		return fmt.Errorf("market: buyer %d, round %d: %d types, want %d", i, t, len(b.Rates[t]), len(m.Supply[t]))
	}
	var errs []error
	for j, r := range b.Rates[t] {
		errs = append(errs, checkNumber(r, "market: buyer %d, round %d, type %d: rate", i, t, j))
	}
	if b.Utility == Leontief && sum(b.Rates[t]) == 0 {
		errs = append(errs, fmt.Errorf("market: buyer %d, round %d: a bundle of nothing, want a rate above 0 or no rates", i, t))
	}
	return errors.Join(errs...)
}

// checkNumber wants a finite number, at least 0.
func checkNumber(v float64, what string, args ...any) error {
	if v >= 0 && !math.IsInf(v, 0) {
		return nil
	}
	return fmt.Errorf(what+" %g, want at least 0 and finite", append(args, v)...)
}
