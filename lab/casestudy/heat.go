package casestudy

import "fmt"

// A HeatMap is a table whose cells are shaded. Down says what the rows are,
// Across what the columns are.
type HeatMap struct {
	Title, Intro, Down, Across string
	Columns                    []string
	Rows                       []HeatRow
}

// A HeatRow has as many cells as there are columns.
type HeatRow struct {
	Name  string
	Cells []HeatCell
}

// A HeatCell is text on a shade from 0, the lightest, to 1. Marked cells have a
// frame.
type HeatCell struct {
	Text   string
	Heat   float64
	Marked bool
}

// The ends of the shades: red, green and blue.
var coldest, hottest = [3]float64{0xf7, 0xfb, 0xff}, [3]float64{0x2f, 0x7f, 0xbc}

// Colour returns the shade of a cell.
func (c *HeatCell) Colour() string {
	heat := min(max(c.Heat, 0), 1)
	var rgb [3]int
	for i := range rgb {
		rgb[i] = int(coldest[i] + heat*(hottest[i]-coldest[i]))
	}
	return fmt.Sprintf("#%02x%02x%02x", rgb[0], rgb[1], rgb[2])
}
