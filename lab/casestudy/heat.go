package casestudy

import "fmt"

// A HeatMap is a table with cells that are shaded by their values.
type HeatMap struct {
	Title, Intro, Down, Across string // Down and Across are axis titles
	Columns                    []string
	Rows                       []HeatRow
}

// A HeatRow is a row of a HeatMap, with a cell per column.
type HeatRow struct {
	Name  string
	Cells []HeatCell
}

// A HeatCell is a text on a shade from 0 (lightest) to 1, optionally with a frame.
type HeatCell struct {
	Text   string
	Heat   float64
	Marked bool
}

var coldest, hottest = [3]float64{0xf7, 0xfb, 0xff}, [3]float64{0x2f, 0x7f, 0xbc}

// Colour returns the background colour of the cell in CSS syntax.
func (c *HeatCell) Colour() string {
	heat := min(max(c.Heat, 0), 1)
	var rgb [3]int
	for i := range rgb {
		rgb[i] = int(coldest[i] + heat*(hottest[i]-coldest[i]))
	}
	return fmt.Sprintf("#%02x%02x%02x", rgb[0], rgb[1], rgb[2])
}
