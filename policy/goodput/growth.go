package goodput

import "github.com/oxgang/oxgang/opt/mmkp"

func (l *levelled) growth(r *Row) (all []option) {
	it := &r.item
	has := l.sol.Pick[it.number]
	if has < 0 || r.Pinned() {
		return nil
	}
	for c := range it.choices {
		more := it.choices[c].Amount - it.choices[has].Amount
		gain := it.value(c) - it.value(has)
		if more > 0 && gain > 0 && it.choices[c].Resource == it.choices[has].Resource {
			all = append(all, option{c, mmkp.Choice{Value: gain, Use: mmkp.Use{Resource: it.choices[c].Resource, Amount: more}, More: beyond(&it.choices[c], &it.choices[has])}})
		}
	}
	return all
}

func beyond(c, other *mmkp.Choice) (more []mmkp.Use) {
	for _, u := range c.More {
		if n := u.Amount - other.Uses(u.Resource); n > 0 {
			more = append(more, mmkp.Use{Resource: u.Resource, Amount: n})
		}
	}
	return more
}
