"""Functions of bfloat16 arguments whose results are rounded to bfloat16; they are shorter than those for float32.

For all 65,536 arguments, the result rounds to the same bfloat16 as the float32 function's result. Neither minimax
polynomials nor short argument reductions guarantee that: some results are within 2**-22 of the midpoint of two bfloat16
numbers. The coefficients were therefore found by a search around those of the minimax polynomials
(benchmarks/fitting/bfloat16.py).
"""

from __future__ import annotations

from ttnn_jit.kernels.math.exponential import GELU_CUBIC, GELU_LINEAR, LOG2_E
from ttnn_jit.kernels.math.logarithm import Logarithm
from ttnn_jit.kernels.math.primitives import ROUNDING_MAGIC, Table
from ttnn_jit.kernels.math.trigonometry import INVERSE_HALF_PI, INVERSE_PI, NEAR_LIMIT, Trigonometry
from ttnn_jit.kernels.math.wide_primitives import Int
from ttnn_jit.ops.language.emit import Value

# 2**f on [0, 1].
EXP = (1.0000048875808716, 0.6929713487625122, 0.24151457846164703, 0.05198129266500473, 0.01353313960134983)
SIGMOID = (0.9999999403953552, 0.6930091977119446, 0.24144741892814636, 0.05201601982116699, 0.013534682802855968)
SILU = (
    0.9999999403953552,
    0.6931538581848145,
    0.24015703797340393,
    0.055819276720285416,
    0.008994442410767078,
    0.0018755887867882848,
)
# Of x**2: tanh(x) / x up to 3.5 as a quotient, erf(x) / x up to 2.2. Beyond, the result is 1.
TANH = ((1.0, 0.10660248249769211, 0.0008212811080738902), (1.0, 0.43988823890686035, 0.014185793697834015))
TANH_LIMIT = 3.5
ERF = (
    1.128379225730896,
    -0.3760448396205902,
    0.11249788850545883,
    -0.026304326951503754,
    0.004747482948005199,
    -0.0006230190629139543,
    5.186086127650924e-05,
    -2.0051397768838797e-06,
)
ERF_LIMIT = 2.2
# The normal distribution function of -z is exp(-z**2 / 2) times this quotient, up to 13.75: beyond, z times it is 0.
GELU_EXP = (0.999987006187439, 0.6929964423179626, 0.24145933985710144, 0.05201313644647598, 0.013533884659409523)
GELU_COMPLEMENT = (
    (0.5000064969062805, 0.25481465458869934, 0.05381488800048828, -8.150653229677118e-06),
    (1.0, 1.3078629970550537, 0.6493536233901978, 0.1341424435377121),
)
GELU_LIMIT = 13.75
LN2 = 0.6931471805599453
LOG10_OF_2 = 0.30102999566398120
NEAR_ZERO = 2.0**-8  # the sum of 1 and a smaller number has a factor of 1 in log1p
# log(1 + r) / r on [-1/32, 1/16], for log1p.
LOG1P = (1.0, -0.5001548528671265, 0.3245154917240143)
# log(1 + r) / r on [-1/32, 1/16].
LOG = (1.0, -0.5002377033233643, 0.3244675397872925)
# pi as two sums of one sign, so that zeros keep theirs.
PI = 3.141592653589793
PI_BELOW = 3.141592502593994
PI_REST = 1.509957990978376e-07
# sin(r) / r in r**2 on |r| <= 1.01 * pi / 2.
SIN = (1.0, -0.16665801405906677, 0.008313484489917755, -0.00018516011186875403)
COS = (1.0, -0.1666586995124817, 0.00831455085426569, -0.00018513087707106024)
# tan(r) / r in r**2 on |r| <= 1.01 * pi / 4.
TAN = (
    1.0,
    0.3333538770675659,
    0.1328812539577484,
    0.057140007615089417,
    0.012476600706577301,
    0.020493803545832634,
)
# atan(z) / z in z**2 on [0, 1].
ATAN = (
    1.0,
    -0.3330889940261841,
    0.1961829960346222,
    -0.12251465767621994,
    0.05876978859305382,
    -0.013954896479845047,
)
# acos(x) / sqrt(1 - x) on [0, 1].
ACOS = (
    1.5707951784133911,
    -0.2145099937915802,
    0.08785580098628998,
    -0.044899482280015945,
    0.019280755892395973,
    -0.004309758078306913,
)
# log2(1 + r) / r on [-1/32, 1/16].
LOG2 = (1.4427025318145752, -0.7216760516166687, 0.46498703956604004)
RSQRT_MAGIC = 0x5F37_5A86
# (1 - v)**-1/2 on |v| <= 0.0703, twice the relative error of the estimate of rsqrt.
RSQRT = (0.9999991655349731, 0.4999982416629791, 0.37635529041290283, 0.3139914572238922)
# 2**f on [0, 1] again, for exp2 and gelu by tanh.
EXP2 = (1.0000026226043701, 0.6930034160614014, 0.24144375324249268, 0.05201109126210213, 0.013533893041312695)
GELU_TANH = (
    0.9999999403953552,
    0.6931560635566711,
    0.2401525229215622,
    0.05582118034362793,
    0.008994984440505505,
    0.0018755741184577346,
)
# 2**f on [0, 1], and log(1 + e) / e there.
SOFTPLUS_EXP = (1.0000025033950806, 0.6929967403411865, 0.2414424866437912, 0.05201779305934906, 0.013533691875636578)
SOFTPLUS = (
    1.0,
    -0.49990788102149963,
    0.3314037621021271,
    -0.23611128330230713,
    0.15102574229240417,
    -0.06784791499376297,
    0.014586856588721275,
)
# log10(1 + r) / r on [-1/32, 1/16].
LOG10 = (0.43429675698280334, -0.21724583208560944, 0.1399620771408081)
# 2**f / 2 on [0, 1].
COSH = (0.4999978542327881, 0.3465128540992737, 0.12071792781352997, 0.026008129119873047, 0.006766244303435087)
# (exp(r) - 1) / r on |r| <= ln(2) / 2.
EXPM1 = (1.0, 0.4999940097332001, 0.16666823625564575, 0.041872743517160416, 0.00833876896649599)
# 2**f / 2 on [0, 1], and sinh(x) / x in x**2 up to 1.
SINH_EXP = (0.4999929964542389, 0.3465241491794586, 0.12070636451244354, 0.026004159823060036, 0.006766678765416145)
SINH = (1.0, 0.16667775809764862, 0.008332819677889347, 0.0002037738886428997)
FAINT = 2.0**-64  # a sigmoid's numerator: its denominator then holds exp(-x) of all x whose result is not 0
# The factors of `log` for the mantissas of [1, 2), and their negated logarithms. Near 1 the terms of exponent and
# factor are 0, or cancel.
FACTOR = Table.of_floats(
    "factor_from_one",
    1.0, 0.9139624238014221, 0.8642138242721558, 0.8207470774650574,
    0.7800852656364441, 0.7444534301757812, 0.7108720541000366, 0.6808698177337646,
    0.6524812579154968, 0.6271117925643921, 0.6034925580024719, 0.5818450450897217,
    0.5609654784202576, 0.5424633622169495, 0.5245634913444519, 0.5,
)  # fmt: skip
LOG_OF_FACTOR = Table.of_floats(
    "log_of_factor_from_one",
    0.0, 0.0899658203125, 0.14593505859375, 0.197540283203125,
    0.24835205078125, 0.29510498046875, 0.3412628173828125, 0.3843841552734375,
    0.4269728660583496, 0.4666304588317871, 0.5050215721130371, 0.5415511131286621,
    0.5780959129333496, 0.6116347312927246, 0.6451888084411621, 0.6931471824645996,
)  # fmt: skip
LOG2_OF_FACTOR = Table.of_floats(
    "log2_of_factor_from_one",
    0.0, 0.12979324162006378, 0.2105397880077362, 0.2849904000759125,
    0.358296275138855, 0.42574650049209595, 0.4923381805419922, 0.5545490980148315,
    0.6159916520118713, 0.6732054352760315, 0.7285920977592468, 0.7812930941581726,
    0.8340160846710205, 0.8824024200439453, 0.9308106899261475, 1.0,
)  # fmt: skip
LOG10_OF_FACTOR = Table.of_floats(
    "log10_of_factor_from_one",
    0.0, 0.03907166048884392, 0.06337878853082657, 0.08579065650701523,
    0.10785792768001556, 0.1281624585390091, 0.14820855855941772, 0.16693592071533203,
    0.18543195724487305, 0.20265503227710724, 0.21932807564735413, 0.2351926565170288,
    0.25106385350227356, 0.2656295895576477, 0.2802019417285919, 0.3010300099849701,
)  # fmt: skip


class Bfloat16Functions(Logarithm, Trigonometry):
    """``<name>_bfloat16`` of the functions for which a shorter body pays."""

    def exp_bfloat16(self, a: Value) -> Value:
        """E to the power a."""
        return self.exp2_by(self.mul(a, self.const(LOG2_E)), EXP)

    def sigmoid_bfloat16(self, a: Value) -> Value:
        """1 / (1 + exp(-a))."""
        return self._sigmoid_by(self.mul(a, self.const(-LOG2_E)), SIGMOID)

    def silu_bfloat16(self, a: Value) -> Value:
        """A * sigmoid(a); NaN at -infinity, as the product is."""
        return self.mul(a, self._sigmoid_by(self.mul(a, self.const(-LOG2_E)), SILU))

    def _sigmoid_by(self, y: Value, coefficients: tuple[float, ...]) -> Value:
        """1 / (1 + 2**y)."""
        power = self.exp2_by(y, [FAINT * coefficient for coefficient in coefficients])
        return self.div(self.const(FAINT), self.add(power, self.const(FAINT)))

    def tanh_bfloat16(self, a: Value) -> Value:
        """A rational function."""
        x, square = self._bounded_and_square(a, TANH_LIMIT)
        numerator, denominator = (self.polynomial(square, coefficients) for coefficients in TANH)
        return self.div(self.mul(x, numerator), denominator)

    def erf_bfloat16(self, a: Value) -> Value:
        """An odd polynomial."""
        x, square = self._bounded_and_square(a, ERF_LIMIT)
        return self.mul(x, self.polynomial(square, ERF))

    def _bounded_and_square(self, a: Value, limit: float) -> tuple[Value, Value]:
        x = self.at_most(limit, self.at_least(-limit, a))
        return x, self.mul(x, x)

    def gelu_bfloat16(self, a: Value) -> Value:
        """max(a, 0) minus |a| times the normal distribution function of -|a|; NaN at -infinity."""
        magnitude = self.abs(a)
        z = self.at_most(GELU_LIMIT, magnitude)
        power = self.exp2_by(self.mul(self.mul(z, z), self.const(-0.5 * LOG2_E)), GELU_EXP)
        numerator, denominator = (self.polynomial(z, coefficients) for coefficients in GELU_COMPLEMENT)
        complement = self.div(self.mul(z, numerator), denominator)
        half = self.const(0.5)
        positive = self.fma(magnitude, half, self.mul(a, half))
        return self.copysign(self.fma(self.neg(complement), power, positive), a)

    def _reduced_from_one(self, a: Value) -> tuple[Value, Int, Value]:
        """(exponent, index, r) with a = 2**exponent * (1 + r) / FACTOR[index]."""
        mantissa, exponent = self.split_at_one(a)
        index = self.shift_right(self.bits(mantissa), self.int_const(19))
        return exponent, index, self.fma(mantissa, self.lookup(FACTOR, index), self.const(-1.0))

    def log_bfloat16(self, a: Value) -> Value:
        """A table of logarithms of factors, and a polynomial."""
        exponent, index, r = self._reduced_from_one(a)
        high = self.fma(exponent, self.const(LN2), self.lookup(LOG_OF_FACTOR, index))
        return self.fma(r, self.polynomial(r, LOG), high)

    def log2_bfloat16(self, a: Value) -> Value:
        """A table of logarithms of factors, and a polynomial."""
        exponent, index, r = self._reduced_from_one(a)
        return self.fma(r, self.polynomial(r, LOG2), self.add(exponent, self.lookup(LOG2_OF_FACTOR, index)))

    def log10_bfloat16(self, a: Value) -> Value:
        """A table of logarithms of factors, and a polynomial."""
        exponent, index, r = self._reduced_from_one(a)
        high = self.fma(exponent, self.const(LOG10_OF_2), self.lookup(LOG10_OF_FACTOR, index))
        return self.fma(r, self.polynomial(r, LOG10), high)

    def log1p_bfloat16(self, a: Value) -> Value:
        """The table of `log_bfloat16`; for arguments near 0 the residue is the argument."""
        exponent, index, r = self._reduced_from_one(self.add(a, self.const(1.0)))
        r = self.select(self.lt(self.abs(a), self.const(NEAR_ZERO)), a, r)
        high = self.fma(exponent, self.const(LN2), self.lookup(LOG_OF_FACTOR, index))
        return self.copysign(self.fma(r, self.polynomial(r, LOG1P), high), a)

    def softplus_bfloat16(self, a: Value) -> Value:
        """max(a, 0) + log(1 + exp(-|a|))."""
        power = self.exp2_by(self.mul(self.abs(a), self.const(-LOG2_E)), SOFTPLUS_EXP)
        return self.fma(power, self.polynomial(power, SOFTPLUS), self.at_least(0.0, a))

    def cosh_bfloat16(self, a: Value) -> Value:
        """Half the sum of two powers."""
        y = self.mul(a, self.const(LOG2_E))
        return self.add(self.exp2_by(y, COSH), self.exp2_by(self.neg(y), COSH))

    def sinh_bfloat16(self, a: Value) -> Value:
        """Half the difference of two powers, up to 1 an odd polynomial."""
        y, square = self.mul(a, self.const(LOG2_E)), self.mul(a, a)
        far = self.sub(self.exp2_by(y, SINH_EXP), self.exp2_by(self.neg(y), SINH_EXP))
        near = self.mul(a, self.polynomial(square, SINH))
        return self.select(self.lt(square, self.const(1.0)), near, far)

    def expm1_bfloat16(self, a: Value) -> Value:
        """(1 + s) 2**n - 1, in halves, since 2**128 is infinity."""
        x = self.at_most(89.0, self.at_least(-30.0, a))
        n = self.round_even(self.mul(x, self.const(LOG2_E)))
        r = self.fma(n, self.const(-LN2), x)
        s = self.mul(r, self.polynomial(r, EXPM1))
        power = self.scale(self.const(0.5), n)
        half = self.fma(s, power, self.sub(power, self.const(0.5)))
        return self.copysign(self.add(half, half), a)

    def exp2_bfloat16(self, a: Value) -> Value:
        """2 to the power a."""
        return self.exp2_by(a, EXP2)

    def rsqrt_bfloat16(self, a: Value) -> Value:
        """C. Lomont's estimate and one step, which reduces its error by a factor of 100,000."""
        bits = self.bits(a)
        y = self.from_bits(self.int_sub(self.int_const(RSQRT_MAGIC), self.shift_right(bits, self.int_const(1))))
        error = self.fma(self.neg(self.mul(a, y)), y, self.const(1.0))
        near = self.mul(y, self.polynomial(error, RSQRT))
        return self.unless_normal(a, near)

    def gelu_tanh_bfloat16(self, a: Value) -> Value:
        """A * sigmoid(2 sqrt(2 / pi) (a + 0.044715 a**3)); NaN at -infinity, as the product is."""
        inner = self.fma(self.mul(a, a), self.const(-LOG2_E * GELU_CUBIC[0]), self.const(-LOG2_E * GELU_LINEAR[0]))
        return self.mul(a, self._sigmoid_by(self.mul(a, inner), GELU_TANH))

    def sin_bfloat16(self, a: Value) -> Value:
        """Reduction to [-pi/2, pi/2] and an odd polynomial."""
        magic = self.const(ROUNDING_MAGIC)
        shifted = self.fma(a, self.const(INVERSE_PI), magic)
        near = self._sine_bfloat16(a, self.sub(shifted, magic), shifted, SIN)
        far = self.gt(self.abs(a), self.const(NEAR_LIMIT))
        return self.rarely(far, near, Bfloat16Functions.sin_far_bfloat16, a)

    def cos_bfloat16(self, a: Value) -> Value:
        """A sine a quarter turn on."""
        magic = self.const(ROUNDING_MAGIC + 1)  # cos(r + (k + 1/2) pi) = -sin(r) where k is even
        shifted = self.add(self.fma(a, self.const(INVERSE_PI), self.const(-0.5)), magic)
        multiple = self.add(self.sub(shifted, magic), self.const(0.5))
        near = self._sine_bfloat16(a, multiple, shifted, COS)
        magnitude = self.abs(a)
        far = self.gt(magnitude, self.const(NEAR_LIMIT))
        return self.rarely(far, near, Trigonometry.cos_far, magnitude)

    def tan_bfloat16(self, a: Value) -> Value:
        """Reduction to [-pi/4, pi/4]; -1 / tan of the residue for odd multiples of pi / 2."""
        magic = self.const(ROUNDING_MAGIC)
        shifted = self.fma(a, self.const(INVERSE_HALF_PI), magic)
        multiple = self.sub(shifted, magic)
        r = self.fma(multiple, self.const(-PI_REST / 2), self.fma(multiple, self.const(-PI_BELOW / 2), a))
        tangent = self.mul(r, self.polynomial(self.mul(r, r), TAN))
        one = self.int_const(1)
        is_odd = self.int_eq(self.int_and(self.bits(shifted), one), one)
        numerator = self.select(is_odd, self.const(-1.0), tangent)
        near = self.div(numerator, self.select(is_odd, tangent, self.const(1.0)))
        far = self.gt(self.abs(a), self.const(NEAR_LIMIT))
        return self.rarely(far, near, Bfloat16Functions.tan_far_bfloat16, a)

    def sin_far_bfloat16(self, a: Value) -> Value:
        """`sin_far` of numbers of either sign."""
        return self.times_sign_of(self.sin_far(self.abs(a)), a)

    def tan_far_bfloat16(self, a: Value) -> Value:
        """`tan_far` of numbers of either sign."""
        return self.times_sign_of(self.tan_far(self.abs(a)), a)

    def atan_bfloat16(self, a: Value) -> Value:
        """An odd polynomial on [0, 1]; beyond, pi / 2 minus the polynomial of 1 / a."""
        magnitude = self.abs(a)
        steep = self.gt(magnitude, self.const(1.0))
        z = self.select(steep, self.div(self.const(1.0), magnitude), magnitude)
        angle = self.mul(z, self.polynomial(self.mul(z, z), ATAN))
        return self.copysign(self.select(steep, self.sub(self.const(PI / 2), angle), angle), a)

    def acos_bfloat16(self, a: Value) -> Value:
        """sqrt(1 - |a|) times a polynomial, or pi less that; NaN beyond [-1, 1]."""
        magnitude = self.abs(a)
        root = self.sqrt(self.sub(self.const(1.0), magnitude))
        angle = self.mul(root, self.polynomial(magnitude, ACOS))
        return self.select(self.lt(a, self.const(0.0)), self.sub(self.const(PI), angle), angle)

    def _sine_bfloat16(self, a: Value, multiple: Value, odd: Value, coefficients: tuple[float, ...]) -> Value:
        """sin(a - multiple * pi), negated where the lowest bit of `odd` is set."""
        r = self.fma(multiple, self.const(-PI_REST), self.fma(multiple, self.const(-PI_BELOW), a))
        sine = self.mul(r, self.polynomial(self.mul(r, r), coefficients))
        return self.from_bits(self.int_xor(self.bits(sine), self.shift_left(self.bits(odd), self.int_const(31))))
