package translate

import (
	"math"
	"math/big"
	"strconv"
)

// numberFunctions are the functions of numbers.
var numberFunctions = []Function{
	strict("rota_div", 2, func(a arguments) any {
		x, y := a.int(0), a.int(1)
		switch y {
		case 0:
			panic(divisionByZero())
		case -1:
			return -x
		}
		return x / y
	}),
	strict("rota_quotient", 2, func(a arguments) any {
		if a.real(1) == 0 {
			panic(divisionByZero())
		}
		return a.real(0) / a.real(1)
	}),
	strict("rota_mod", 2, modulo),
	strict("rota_round", 2, func(a arguments) any { return decimal(a[0], a.int(1), true) }),
	strict("rota_trunc", 2, func(a arguments) any { return decimal(a[0], a.int(1), false) }),
	strict("rota_rint", 1, func(a arguments) any { return math.RoundToEven(a.real(0)) }),
	strict("rota_ceil", 1, func(a arguments) any { return integral(a[0], math.Ceil) }),
	strict("rota_floor", 1, func(a arguments) any { return integral(a[0], math.Floor) }),
	strict("rota_sqrt", 1, func(a arguments) any {
		if a.real(0) < 0 {
			panic(valueError("2201F", "cannot take square root of a negative number"))
		}
		return math.Sqrt(a.real(0))
	}),
	strict("rota_ln", 1, func(a arguments) any { return logarithm(a.real(0), math.Log) }),
	strict("rota_log", 1, func(a arguments) any { return logarithm(a.real(0), math.Log10) }),
	strict("rota_power", 2, func(a arguments) any {
		f := math.Pow(a.real(0), a.real(1))
		if math.IsNaN(f) || a.real(0) == 0 && a.real(1) < 0 {
			panic(valueError("2201F", "power(%g, %g) is undefined", a.real(0), a.real(1)))
		}
		if math.IsInf(f, 0) {
			panic(valueError(StateRange, "value out of range: overflow"))
		}
		return f
	}),
}

func divisionByZero() *Error {
	return valueError(StateDivisionByZero, "division by zero").WithHint("write x / nullif(y, 0)")
}

func modulo(a arguments) any {
	x, wholeX := a[0].(int64)
	y, wholeY := a[1].(int64)
	switch {
	case a.real(1) == 0:
		panic(divisionByZero())
	case wholeX && wholeY && y == -1:
		return int64(0)
	case wholeX && wholeY:
		return x % y
	}
	p, okP := exact(a.real(0))
	q, okQ := exact(a.real(1))
	if !okP || !okQ {
		return math.Mod(a.real(0), a.real(1))
	}
	n := new(big.Rat).Quo(p, q)
	times := new(big.Rat).SetInt(new(big.Int).Quo(n.Num(), n.Denom()))
	rest, _ := p.Sub(p, times.Mul(times, q)).Float64() // as exact as a real number is
	return rest
}

// exact is the decimal number that a float is written as: 0.1 is a tenth.
func exact(f float64) (*big.Rat, bool) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, false
	}
	return new(big.Rat).SetString(strconv.FormatFloat(f, 'f', -1, 64))
}

func logarithm(x float64, log func(float64) float64) any {
	if x <= 0 {
		panic(valueError("2201E", "cannot take logarithm of a number that is not positive"))
	}
	return log(x)
}

func integral(v any, how func(float64) float64) any {
	if n, is := v.(int64); is {
		return n
	}
	return how(realOf(v))
}

// decimal rounds or truncates a number to a number of digits. It uses the decimal digits of the
// number, like PostgreSQL's numeric.
func decimal(v any, digits int64, round bool) any {
	if n, is := v.(int64); is && digits >= 0 {
		return n
	}
	f := realOf(v)
	number, ok := exact(f)
	if !ok || digits > 300 || digits < -300 {
		return f
	}
	shift := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(max(digits, -digits)), nil))
	if digits < 0 {
		shift.Inv(shift)
	}
	number.Mul(number, shift)
	n := new(big.Int)
	if round { // half away from zero
		number.Add(number, big.NewRat(int64(number.Sign()), 2))
	}
	n.Quo(number.Num(), number.Denom())
	out := new(big.Rat).SetInt(n)
	result, _ := out.Quo(out, shift).Float64() // as exact as a real number is
	return result
}
