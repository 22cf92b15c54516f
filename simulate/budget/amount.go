package budget

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Hours of a day and of a month of 30 days.
const (
	Day   = 24.0
	Month = 30 * Day
)

const mostMoney = 1e15

// ParseAmount parses an amount per hour, day or month into an amount per hour: "40" and "40/hour" are 40,
// "2000/day" and "60000/month" 83.3.
func ParseAmount(text string) (float64, error) {
	number, per, _ := strings.Cut(text, "/")
	hours, known := map[string]float64{"": 1, "hour": 1, "day": Day, "month": Month}[per]
	amount, err := strconv.ParseFloat(number, 64)
	if err != nil || !known || strings.HasSuffix(text, "/") || !(amount > 0 && amount < mostMoney) {
		return 0, fmt.Errorf("%q, want an amount above 0 per time, such as 40/hour, 2000/day or 60000/month", text)
	}
	return amount / hours, nil
}

// A unit is a currency, or GPUs if empty.
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
		return fmt.Sprintf("%s GPUs on average: %s GPU-hours a day, %s a month", figure(hour), figure(hour*Day), figure(hour*Month))
	}
	return fmt.Sprintf("%[1]s%[2]s an hour, %[1]s%[3]s a day, %[1]s%[4]s a month", string(u), figure(hour), figure(hour*Day), figure(hour*Month))
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
const year = 365 * Day * 3600

func formatSeconds(seconds float64) string {
	if math.Abs(seconds) >= year {
		return figure(seconds/(Day*3600)) + " days"
	}
	if math.Abs(seconds) < 60 {
		return strconv.FormatFloat(seconds, 'g', 3, 64) + "s"
	}
	return time.Duration(seconds * float64(time.Second)).Round(time.Second).String()
}
